from backend.services.export.views import COMMAND, command_of


class TestCommandOf:
    def test_asks_the_same_as_the_address(self) -> None:
        query = [
            ("any_result", "true"),
            ("kind", "oracle"),
            ("measure", "CR>=0.5"),
            ("open_licence", "true"),
        ]
        assert command_of(query) == f"{COMMAND} --result any --kind oracle --measure 'CR>=0.5' --open-licence"

    def test_hostile_words_stay_one_word(self) -> None:
        assert command_of([("agent", "a; rm -rf ~")]) == f"{COMMAND} --agent 'a; rm -rf ~'"
