"""The handoff of the specification's example, and variations of it."""

from __future__ import annotations

from typing import Any

import msgspec

from agent.conversation.framework.state.handoff_data import EngineHandoff

HANDOFF: dict[str, Any] = {
    "metadata": {
        "sourceEngineId": "exploration",
        "targetEngineId": "project-discovery",
        "handoffDate": "2026-01-31T12:00:00Z",
        "sessionId": "sess_abc123",
        "projectId": "proj_xyz789",
        "turnCount": 15,
        "completenessScore": 0.75,
        "transitionReason": "User reached decision and ready to define requirements",
    },
    "phaseResults": [
        {"phaseName": "EDUCATION", "completionPercentage": 75, "keyOutputs": "Options: WordPress", "remainingGaps": ["Hosting"]}
    ],
    "actionList": {
        "decisionsReached": [
            {
                "decision": "Custom Web App",
                "confidence": 0.85,
                "reasoning": "Full control over the product, better long-term TCO at scale",
            }
        ],
        "optionsEliminated": [
            {"option": "WordPress", "reasons": ["Not flexible enough", "vendor lock-in concerns"]},
            {"option": "No-Code Platform", "reasons": ["Scalability limitations"]},
        ],
        "constraintsIdentified": [
            {"constraint": "Budget", "implication": "$50k-$75k initial build"},
            {"constraint": "Timeline", "implication": "6 months to MVP"},
            {"constraint": "Must integrate with Stripe and QuickBooks"},
        ],
        "assumptionsCarriedForward": [],
    },
    "situationAwareness": {
        "userConfidenceLevel": "high",
        "knowledgeGapsRevealed": [
            "User unclear on hosting requirements",
            "Unsure about authentication approach (OAuth vs custom)",
        ],
        "userGoals": [],
        "keyPainPoints": [],
    },
    "accumulatedContext": {
        "technicalLevel": "intermediate",
        "conceptsTaught": [
            {"concept": "API Design", "understandingLevel": "solid"},
            {"concept": "Database Normalization", "understandingLevel": "basic"},
            {"concept": "Microservices vs Monolith", "understandingLevel": "solid"},
        ],
        "priorExperience": [],
    },
    "relationalState": {
        "trustLevel": "high",
        "rapport": "Collaborative and engaged",
        "openQuestions": [],
        "sensitivities": [],
    },
}  # fmt: skip

NAMES = {"exploration": "Exploration Engine", "project-discovery": "Project Requirements Discovery"}


def handoff(**sections: dict[str, Any]) -> EngineHandoff:
    """The example with these keys of its sections changed."""
    return msgspec.convert(
        {name: value | sections.get(name, {}) if isinstance(value, dict) else value for name, value in HANDOFF.items()},
        EngineHandoff,
    )
