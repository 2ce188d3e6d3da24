from backend import addresses
from backend.config import Settings
from deskarena import client


class TestAddress:
    def test_is_where_the_service_answers(self) -> None:
        assert client.BASE == addresses.API
        assert f"http://127.0.0.1:{Settings().port}" == client.DEFAULT_SERVER
