import pytest
from lxml import etree

from worker.images.windows.autounattend import FIRST_COMMAND, UNATTEND, answer_file
from worker.images.windows.autounattend_schema import faults
from worker.images.windows.options import WindowsBuildOptions

NS = {"u": UNATTEND}


def texts(data: bytes, path: str) -> list[str]:
    """Texts at a path, whose steps are names in the answer file's namespace."""
    steps = "/".join(f"u:{step}" for step in path.split("/"))
    result = etree.fromstring(data).xpath(f"//{steps}/text()", namespaces=NS)
    assert isinstance(result, list)
    return [str(text) for text in result]


class TestAnswerFile:
    @pytest.mark.parametrize("server", [False, True])
    @pytest.mark.parametrize(
        "options",
        [
            WindowsBuildOptions(),
            WindowsBuildOptions(firmware="bios"),
            WindowsBuildOptions(product_key="AAAAA-" * 4 + "AAAAA"),
        ],
    )
    def test_keeps_to_the_schema(self, options: WindowsBuildOptions, *, server: bool) -> None:
        assert faults(answer_file(options, 3, server=server)) == []

    def test_takes_the_edition_that_was_chosen(self) -> None:
        assert texts(answer_file(WindowsBuildOptions(), 6), "MetaData/Value") == ["6"]

    def test_without_a_key_none_is_given_and_none_asked_for(self) -> None:
        data = answer_file(WindowsBuildOptions(), 1)
        assert texts(data, "ProductKey/Key") == []
        assert texts(data, "ProductKey/WillShowUI") == ["Never"]

    def test_goes_around_every_check_of_the_machine(self) -> None:
        commands = " ".join(texts(answer_file(WindowsBuildOptions(), 1), "RunSynchronousCommand/Path"))
        assert [
            name for name in ("TPM", "SecureBoot", "RAM", "CPU", "Storage") if f"Bypass{name}Check" not in commands
        ] == []

    def test_windows_lies_on_the_partition_that_is_made_last(self) -> None:
        for firmware, kinds, target in (
            ("uefi", ["EFI", "MSR", "Primary"], "3"),
            ("bios", ["Primary", "Primary"], "2"),
        ):
            data = answer_file(WindowsBuildOptions.model_validate({"firmware": firmware}), 1)
            assert texts(data, "CreatePartition/Type") == kinds
            assert texts(data, "InstallTo/PartitionID") == [target]

    def test_the_user_is_logged_on_and_our_script_started(self) -> None:
        data = answer_file(WindowsBuildOptions(user="Ada", also_home=()), 1)
        assert texts(data, "LocalAccount/Name") == texts(data, "AutoLogon/Username") == ["Ada"]
        assert texts(data, "SynchronousCommand/CommandLine") == [FIRST_COMMAND]

    def test_only_a_server_gets_an_administrators_password(self) -> None:
        assert texts(answer_file(WindowsBuildOptions(), 1), "AdministratorPassword/Value") == []
        assert texts(answer_file(WindowsBuildOptions(), 1, server=True), "AdministratorPassword/Value") != []

    def test_characters_of_xml_in_a_password_stay_what_they_are(self) -> None:
        data = answer_file(WindowsBuildOptions.model_validate({"password": "<&>\"'1aA"}), 1)
        assert texts(data, "LocalAccount/Password/Value") == ["<&>\"'1aA"]
