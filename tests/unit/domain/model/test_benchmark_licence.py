import pytest

from backend.domain.model.benchmark_licence import LicenceStatus, licence_status


class TestLicenceStatus:
    @pytest.mark.parametrize(
        "name",
        ["MIT", "mit license", "Apache-2.0", "Apache License 2.0", "Apache License, Version 2.0", "CC BY 4.0", "CC0",
         "CC-BY-SA-4.0", "The MIT License", "Apache-2.0 and MIT"],
    )  # fmt: skip
    def test_open_licences(self, name: str) -> None:
        assert licence_status(name) is LicenceStatus.OPEN

    @pytest.mark.parametrize(
        "name",
        ["CC-BY-NC-4.0", "CC BY-ND 4.0", "research only", "All rights reserved", "proprietary", "MIT, CC-BY-NC-SA-4.0"],
    )
    def test_restricted_licences(self, name: str) -> None:
        assert licence_status(name) is LicenceStatus.RESTRICTED

    @pytest.mark.parametrize("name", ["", "  ", "ask us", "MIT and something", "commit"])
    def test_unknown_licences(self, name: str) -> None:
        assert licence_status(name) is LicenceStatus.UNKNOWN
