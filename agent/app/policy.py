"""Wire policy: which files count, and what they say of a command. Nothing is read before a command has to be decided."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from agent.config.paths import config_dir, state_dir
from agent.protocol.decisions import Finding, Level
from agent.protocol.errors import ConfigError

if TYPE_CHECKING:
    from agent.config.settings import Settings
    from agent.policy.files import PolicyFiles
    from agent.policy.model import Policy, SessionRules
    from agent.policy.shown_once import Showing, ShownFiles
    from agent.protocol.actions import Action
    from agent.protocol.decisions import RiskContext, RiskReport, Verdict
    from agent.protocol.requests import Approval


class ProcessPolicies:
    """The policy files of one process, and what they say about a command."""

    def __init__(self, settings: Settings, environ: Mapping[str, str]) -> None:
        self._settings = settings
        self._environ = environ
        self._files: PolicyFiles | None = None
        self._shown: ShownFiles | None = None

    @property
    def files(self) -> PolicyFiles:
        if self._files is None:
            from agent.policy.files import PolicyFiles, policy_sources

            self._files = PolicyFiles(policy_sources(self._settings, self._environ))
        return self._files

    @property
    def user_path(self) -> str:
        """The person's own policy file, there or not."""
        return os.path.join(config_dir(self._environ), "policy.toml")

    def session_rules(self, session: str) -> SessionRules:
        """The place of rules that the person makes for that session only."""
        from agent.policy.model import SessionRules

        return SessionRules(session)

    def rules_due(self, cwd: str) -> Showing | None:
        """The rules of the folder one works in, where the person has not seen them as they are now."""
        from agent.planner.facts.git_facts import workspace_of

        return self._shown_files().due(workspace_of(cwd, self.files.sources.home)) if cwd else None

    def rules_seen(self, showing: Showing) -> None:
        self._shown_files().seen(showing)

    def _shown_files(self) -> ShownFiles:
        if self._shown is None:
            from agent.policy.shown_once import ShownFiles

            self._shown = ShownFiles(os.path.join(state_dir(self._environ), "policy-shown.json"))
        return self._shown

    def check(self) -> None:
        """A `--safety-policy` file has to be there and sound when we start. Raises ConfigError."""
        if not self._settings.safety_policy:
            return
        found = self.files.file(self.files.sources.safety, "safety")
        if found is not None and found.error:
            raise ConfigError(f"--safety-policy: {found.error}", hint="fix the file, or start without it")

    def policy(self, cwd: str, rules: SessionRules | None = None) -> Policy:
        """Read what the files say now, with the `rules` of a session, for a command in `cwd`."""
        from agent.planner.facts.git_facts import workspace_of

        home = self.files.sources.home
        return self.files.policy(workspace=workspace_of(cwd, home) if cwd else "", rules=rules)

    def classify(self, command: str, context: RiskContext) -> RiskReport:
        """The rating, raised by the patterns of a safety policy, and where the person's own shell may read more than bash does."""
        from agent.risk.classifier import classify

        report = self._raised(classify(command, context))
        return report if self._settings.shell not in READ_MORE else raised_for_shell(report)

    def rate_action(self, action: Action, context: RiskContext) -> RiskReport:
        """The rating of a change of files that a tool asks for, and of a run to be taken back, raised by those patterns."""
        from agent.risk.file_actions import rate_action

        return self._raised(rate_action(action, context))

    def _raised(self, report: RiskReport) -> RiskReport:
        if not self._settings.safety_policy:
            return report
        from agent.policy.patterns import raised

        return raised(report, self.files.policy().files)

    def decide(self, report: RiskReport, approval: Approval, policy: Policy) -> Verdict:
        from agent.policy.deciding import decide

        return decide(report, approval, policy=policy)

    def warnings(self, cwd: str) -> tuple[str, ...]:
        """Say, for the person at the start, what is wrong with the files that are there."""
        if not any(os.path.lexists(path) for path in self.paths(cwd)):
            return ()  # nothing is imported for what nearly nobody has
        return tuple(
            f"{file.error}; until this is fixed, nothing runs unasked" for file in self.policy(cwd).files if file.error
        )

    def paths(self, cwd: str) -> tuple[str, ...]:
        """List the places of policy files for a command in `cwd`."""
        from agent.planner.facts.git_facts import workspace_of
        from agent.policy.files import PROJECT_FILE

        sources = self.files.sources
        project = os.path.join(workspace_of(cwd, sources.home), PROJECT_FILE)
        return tuple(path for path in (sources.user, sources.site, sources.safety, project) if path)


OTHER_SHELL = "shell.other"
READ_MORE = ("zsh", "fish", "auto")
"""Settings of shells that run what bash cannot read."""


def raised_for_shell(report: RiskReport) -> RiskReport:
    """High is what bash cannot read, since such a shell would run it all the same, and what uses a function that earlier commands
    defined there and that cannot be said in bash.
    """
    from agent.execution.shell_dialects import UNREADABLE
    from agent.risk.analysers import raised

    if report.parse != "ok":
        reason = "is not bash, so what it does cannot be rated, and your own shell would run it"
    elif any(UNREADABLE in finding.reason for finding in report.findings):
        reason = "runs a function that an earlier command defined in your own shell, and that cannot be rated"
    else:
        return report
    return raised(report, (Finding(rule=OTHER_SHELL, level=Level.HIGH, reason=reason, span=(0, len(report.command))),))
