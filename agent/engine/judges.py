"""Put together what decides about a session's actions."""

from __future__ import annotations

from agent.engine.context import AppState, RequestContext
from agent.gate.verdicts import Judges


def judges_of(app: AppState, ctx: RequestContext) -> Judges:
    """Rating, policy with the session's own rules, facts and redaction."""
    return Judges(
        app.classify,
        app.decide,
        app.facts,
        ctx.redactor,
        lambda: app.open_stream_redaction(ctx.redactor),
        app.is_root,
        policy=lambda cwd: app.policy(cwd, ctx.rules),
        rules_due=app.rules_due,
        rules_seen=app.rules_seen,
        changed=app.changed,
        rate_action=app.rate_action,
    )
