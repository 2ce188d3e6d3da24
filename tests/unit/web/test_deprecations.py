from datetime import date

from fastapi import APIRouter, FastAPI
from fastapi.testclient import TestClient

from backend.web import api_routes
from backend.web.api_route import ApiRoute
from backend.web.deprecations import Deprecation, deprecation_of

OLD = Deprecation(since=date(2026, 11, 27), until=date(2027, 5, 27))


def test_the_answers_of_a_deprecated_address_say_until_when_it_is_there() -> None:
    router, app = APIRouter(route_class=ApiRoute), FastAPI()

    @router.get("/old", **OLD.options)
    def old() -> dict[str, int]:
        return {"n": 1}

    @router.get("/new")
    def new() -> dict[str, int]:
        return {"n": 1}

    app.include_router(router)
    client = TestClient(app)
    answer = client.get("/old")
    assert answer.json() == {"n": 1}
    assert answer.headers["deprecation"] == "@1795737600"
    assert answer.headers["sunset"] == "Thu, 27 May 2027 00:00:00 GMT"
    assert answer.headers["link"] == '</docs/api.html#deprecated-addresses>; rel="deprecation"'
    assert "deprecation" not in client.get("/new").headers
    assert app.openapi()["paths"]["/old"]["get"]["deprecated"] is True


def test_each_deprecated_address_has_its_dates() -> None:
    routes = [route for router in api_routes.ROUTERS for route in router.routes if isinstance(route, ApiRoute)]
    assert len(routes) > 100
    assert [route.path for route in routes if bool(route.deprecated) != bool(deprecation_of(route))] == []
