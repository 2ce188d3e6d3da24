"""Names of agent configurations."""

from backend.db.models import AgentConfiguration


def agent(**names: str) -> AgentConfiguration:
    return AgentConfiguration(**{"name": "prompt", "own_name": "", "default_name": "", **names})


def test_a_configuration_is_called_by_its_own_name_before_its_default_one() -> None:
    assert agent().title == "prompt"
    assert agent(default_name="prompt · m").title == "prompt · m"
    assert agent(default_name="prompt · m", own_name="mine").title == "mine"
