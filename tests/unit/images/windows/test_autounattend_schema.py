import pytest

from worker.images.windows.autounattend import answer_file
from worker.images.windows.autounattend_schema import faults, read_schema
from worker.images.windows.options import WindowsBuildOptions

GOOD = answer_file(WindowsBuildOptions(), 1).decode()


class TestReadSchema:
    def test_every_pass_and_component_is_one_that_microsoft_documents(self) -> None:
        schema = read_schema()
        assert {name for component in schema.components.values() for name in component.passes} <= set(schema.passes)
        assert len(schema.components) > 5


class TestFaults:
    @pytest.mark.parametrize(
        ("before", "after", "told"),
        [
            ('pass="specialize"', 'pass="specialise"', "unknown pass specialise"),
            ('pass="specialize"', 'pass="windowsPE"', "settings of the pass windowsPE occur 2 times"),
            ("Microsoft-Windows-ErrorReportingCore", "Microsoft-Windows-Errors", "unknown component"),
            ("International-Core-WinPE", "International-Core", "only allowed in specialize"),
            ('processorArchitecture="amd64"', 'processorArchitecture="x86"', "must be amd64"),
            ("<WillWipeDisk>true</WillWipeDisk>", "<WipeDisk>true</WipeDisk>", "WipeDisk: unknown setting"),
            ("<AcceptEula>true</AcceptEula>", "", "AcceptEula: missing"),
            ("<AcceptEula>true", "<AcceptEula>false", "'false' is not one of true"),
            ("<WillWipeDisk>true", "<WillWipeDisk>1", "'1' is neither true nor false"),
            ("<Size>300", "<Size>300 MB", "'300 MB' is not a number"),
            ("<ProtectYourPC>3", "<ProtectYourPC>1", "'1' is not one of 3"),
            ("<Type>MSR", "<Type>Reserved", "'Reserved' is not one of"),
            ("<ComputerName>DESKARENA", "<ComputerName>DESKARENA-WINDOWS", "has 17 characters, expected 1 to 15"),
            ("<AcceptEula>true", "<AcceptEula>true</AcceptEula><AcceptEula>true", "AcceptEula: occurs 2 times"),
            ('<MetaData wcm:action="add">', "<MetaData>", 'wcm:action="add" is missing'),
            ("2</Order>\n              <Type>MSR", "4</Order>\n              <Type>MSR", "Order has 1, 4, 3"),
            ("<PartitionID>3</PartitionID>\n    ", "<PartitionID>7</PartitionID>\n    ", "changes partition 7"),
            ("3</PartitionID>\n          </Ins", "9</PartitionID>\n          </Ins", "InstallTo names partition 9"),
            ("<Size>16</Size>", "<Extend>true</Extend>", "takes the rest of the disk"),
            ("<Size>16</Size>", "", "needs either Size or Extend"),
            ("<Username>Docker", "<Username>Somebody", "who has no LocalAccount"),
            ("<LogonCount>", "<Logons>", "not valid XML"),
            ("urn:schemas-microsoft-com:unattend", "urn:another", "its root is"),
        ],
    )  # fmt: skip
    def test_finds_what_is_wrong(self, before: str, after: str, told: str) -> None:
        assert before in GOOD
        result = faults(GOOD.replace(before, after, 1).encode())
        assert any(told in fault for fault in result), result

    def test_finds_that_autologon_has_another_password(self) -> None:
        head, tail = GOOD.split("<AutoLogon>")
        result = faults((head + "<AutoLogon>" + tail.replace("Deskarena-1", "another")).encode())
        assert result == ["AutoLogon's password differs from the user's LocalAccount"]

    def test_finds_that_a_whole_component_is_missing(self) -> None:
        result = faults(GOOD.replace("Microsoft-Windows-Setup", "Microsoft-Windows-ErrorReportingCore").encode())
        assert "windowsPE: Microsoft-Windows-Setup is missing" in result

    def test_entities_are_not_followed(self) -> None:
        assert faults(b'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><x>&e;</x>') != []
