"""The terminology service of FHIR: operations, errors, keys, and resources that models accept."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from canonym import Concept, Name, Xref
from canonym.service.keys import Keys
from tests.service.conftest import BASE, build

X = "https://bioregistry.io/X"
ICD = "http://hl7.org/fhir/sid/icd-10-cm"
BASES = ("/fhir", "/fhir/R5")
OPERATIONS = (
    *("CodeSystem/$lookup", "CodeSystem/$validate-code"),
    *("ValueSet/$expand", "ConceptMap/$translate"),
)
CODES = [
    Concept("ICD10CM:I21", "Acute myocardial infarction", source="ICD-10-CM", version="2026"),
    Concept("ICD10CM:E11.9", "Type 2 diabetes", source="ICD-10-CM", version="2026"),
    Xref("ICD10CM:E11.9", "X:3"),
    Xref("ICD10CM:I21", "UMLS_CUI:C0155626"),
    Concept("A:1", "Fracture of hip"),
    Name("hip break", "A:1"),
]


def accepted(answer: Any, base: str, status: int = 200) -> Any:
    """Return the resource of an answer, which the models of FHIR accept."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"].startswith("application/fhir+json")
    resource = answer.json()
    fhir = pytest.importorskip("fhir.resources", reason="fhir.resources is not installed")
    release = "" if base.endswith("R5") else ".R4B"
    type_ = resource["resourceType"]
    module = importlib.import_module(f"{fhir.__name__}{release}.{type_.lower()}")
    getattr(module, type_).model_validate(resource)
    return resource


def parts(resource: Any, name: str) -> list[Any]:
    """Return the values of all parameters of a name; those of a part by the names of its parts."""
    return [_value(member) for member in resource["parameter"] if member["name"] == name]


def _value(member: Any) -> Any:
    if "part" in member:
        return {part["name"]: _value(part) for part in member["part"]}
    return next(value for key, value in member.items() if key.startswith("value"))


def body(**values: Any) -> dict[str, Any]:
    """Return a resource of the type Parameters."""
    kinds = {str: "valueString", bool: "valueBoolean", int: "valueInteger", dict: "valueCoding"}
    members = [{"name": name, kinds[type(value)]: value} for name, value in values.items()]
    return {"resourceType": "Parameters", "parameter": members}


@pytest.fixture(scope="module")
def both(index: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A client of a service with two terminologies."""
    from canonym.service import Settings, create_app

    codes = tmp_path_factory.mktemp("fhir") / "codes"
    build(codes, CODES)
    with TestClient(create_app(Settings(index=(str(index), str(codes)))), BASE) as client:
        yield client


@pytest.mark.parametrize("base", BASES)
def test_a_code_is_looked_up(client: TestClient, base: str) -> None:
    answer = client.get(f"{base}/CodeSystem/$lookup", params={"system": X, "code": "1"})
    found = accepted(answer, base)
    assert parts(found, "name") == ["small"]
    assert parts(found, "version") == ["1"]
    assert parts(found, "display") == ["Myocardial infarction"]
    properties = {(each["code"], each["value"]) for each in parts(found, "property")}
    assert properties >= {
        *{("inactive", False), ("parent", "0"), ("type", "Disease"), ("xref", "ICD10:I21")},
    }
    definition = "Death of heart muscle <by> lack of blood."
    assert parts(found, "definition") == ([definition] if base.endswith("R5") else [])
    assert (("definition", definition) in properties) == (base == "/fhir")
    german = {"language": "de", "value": "Herzinfarkt"}
    (designation,) = [d for d in parts(found, "designation") if d.get("language") == "de"]
    assert designation.items() >= german.items()

    coding = body(coding={"system": X, "code": "X:1"}, property="child", displayLanguage="de")
    few = accepted(client.post(f"{base}/CodeSystem/$lookup", json=coding), base)
    assert parts(few, "property") == parts(few, "designation") == []
    above = client.get(
        f"{base}/CodeSystem/$lookup?system={X}&code=2&property=child&property=parent"
    )
    assert parts(accepted(above, base), "property") == [
        *({"code": "parent", "value": "0"}, {"code": "child", "value": "3"}),
    ]


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize(
    ("parameters", "result", "message"),
    [
        ({"code": "3"}, True, None),
        ({"code": "3", "display": "Type-2 DIABETES"}, True, None),
        ({"code": "3", "display": "Common cold"}, False, "'Common cold' is no name of this code"),
        ({"code": "99"}, False, "there is no code 99"),
        ({"code": "7"}, True, "the code is not in use any more"),
    ],
)
def test_codes_are_validated(
    client: TestClient, base: str, parameters: dict[str, str], result: bool, message: str | None
) -> None:
    for answer in (
        client.get(f"{base}/CodeSystem/$validate-code", params={"url": X, **parameters}),
        client.post(f"{base}/CodeSystem/$validate-code", json=body(url=X, **parameters)),
        client.post(
            f"{base}/CodeSystem/$validate-code", json=body(coding={"system": X, **parameters})
        ),
    ):
        found = accepted(answer, base)
        assert parts(found, "result") == [result]
        assert parts(found, "message") == ([message] if message else [])


def test_a_code_that_was_merged_is_none(serving: Callable[..., TestClient], tmp_path: Path) -> None:
    build(tmp_path / "merged", [Concept("X:1", "Gout"), Xref("X:1", "X:2", "alternative")])
    client = serving(index=(str(tmp_path / "merged"),))
    answer = client.get("/fhir/CodeSystem/$validate-code", params={"url": X, "code": "2"})
    assert parts(answer.json(), "result") == [False]
    assert parts(answer.json(), "message") == ["the code 2 was merged into 1"]
    answer = client.get("/fhir/CodeSystem/$lookup", params={"system": X, "code": "2"})
    assert "merged into 1" in accepted(answer, "/fhir", 404)["issue"][0]["diagnostics"]
    answer = client.get("/fhir/ConceptMap/$translate", params={"system": X, "code": "2"})
    (match,) = parts(answer.json(), "match")
    assert (match["equivalence"], match["concept"]["code"]) == ("equivalent", "1")


def _codes(answer: Any, base: str) -> list[str]:
    resource = accepted(answer, base)
    return [each["code"] for each in resource["expansion"]["contains"]]


@pytest.mark.parametrize("base", BASES)
def test_value_sets_are_expanded(both: TestClient, base: str) -> None:
    def codes(system: str = X, **parameters: Any) -> list[str]:
        given = {"url": f"{system}?fhir_vs", **parameters}
        by_address = _codes(both.get(f"{base}/ValueSet/$expand", params=given), base)
        assert _codes(both.post(f"{base}/ValueSet/$expand", json=body(**given)), base) == by_address
        return by_address

    assert codes(filter="diab") == ["2", "3"]
    assert codes(filter="mellitus type") == ["3"]
    assert codes(filter="cold", count=1) == ["4"]
    assert codes(filter="cold", count=1, offset=1) == ["5"]
    assert codes(filter="nothing like it") == []
    assert codes() == ["0", "1", "2", "3", "4", "5", "6", "7"]
    assert codes(count=2, offset=5) == ["5", "6"]
    assert codes(count=0) == []
    assert codes(activeOnly="true") == ["0", "1", "2", "3", "4", "5", "6"]
    assert codes(filter="old name", activeOnly=True) == []
    # Of a terminology of several systems, those of one.
    assert codes(ICD) == ["I21", "E11.9"]
    assert codes("https://bioregistry.io/A", filter="hip") == ["1"]
    assert codes(ICD, filter="hip") == []


@pytest.mark.parametrize("base", BASES)
def test_an_expansion_has_the_number_of_all_codes(both: TestClient, base: str) -> None:
    def total(system: str = X, **parameters: Any) -> int:
        given = {"url": f"{system}?fhir_vs", **parameters}
        answer = both.get(f"{base}/ValueSet/$expand", params=given)
        return int(accepted(answer, base)["expansion"]["total"])

    for page in ({}, {"count": 0}, {"count": 2, "offset": 5}, {"offset": 100}):
        assert total(**page) == 8
        assert total(activeOnly="true", **page) == 7
        assert total(filter="diab", **page) == 2
        assert total(filter="mellitus type", **page) == 1
        assert total(filter="cold", **page) == 2
        assert total(filter="nothing like it", **page) == 0
        assert total(filter="old name", activeOnly="true", **page) == 0
        assert total(filter="X:3", **page) == 1
        assert total(ICD, **page) == 2
        assert total(ICD, filter="hip", **page) == 0
        assert total("https://bioregistry.io/A", filter="hip", **page) == 1


def test_ids_without_a_prefix_are_a_system_beside_others(
    serving: Callable[..., TestClient], tmp_path: Path
) -> None:
    build(tmp_path / "mixed", [Concept("1", "Gout"), Concept("X:2", "Gout"), Concept("3", "Hip")])
    client = serving(index=(str(tmp_path / "mixed"),))
    for more, codes in (({}, ["1", "3"]), ({"filter": "gout"}, ["1"])):
        given = {"url": "urn:canonym:local?fhir_vs", **more}
        answer = client.get("/fhir/ValueSet/$expand", params=given)
        assert _codes(answer, "/fhir") == codes
        assert answer.json()["expansion"]["total"] == len(codes)


def test_added_names_count(serving: Callable[..., TestClient], tmp_path: Path) -> None:
    from canonym import Linker

    build(tmp_path / "added", [Concept("X:1", "Gout"), Concept("X:2", "Podagra")])
    Linker.load(tmp_path / "added").synonyms.add("gouty attack", "X:2")
    client = serving(index=(str(tmp_path / "added"),))
    given = {"url": f"{X}?fhir_vs", "filter": "gout"}
    answer = client.get("/fhir/ValueSet/$expand", params=given)
    assert sorted(_codes(answer, "/fhir")) == ["1", "2"]
    assert answer.json()["expansion"]["total"] == 2


@pytest.mark.parametrize("base", BASES)
def test_a_version_may_stand_behind_a_system(client: TestClient, base: str) -> None:
    def result(operation: str, status: int = 200, **given: Any) -> Any:
        return accepted(client.get(f"{base}/{operation}", params=given), base, status)

    (version,) = parts(result("CodeSystem/$lookup", system=X, code="1"), "version")
    for system in (f"{X}|{version}", f"{X}|", X):
        for more in ({}, {"version": version}):
            found = result("CodeSystem/$lookup", system=system, code="1", **more)
            assert parts(found, "version") == [version]
            for name in ("url", "system"):
                given = {name: system, "code": "1", **more}
                assert parts(result("CodeSystem/$validate-code", **given), "result") == [True]
        coding = body(coding={"system": system, "version": version, "code": "1"})
        answer = client.post(f"{base}/CodeSystem/$validate-code", json=coding)
        assert parts(accepted(answer, base), "result") == [True]
    expanded = result("ValueSet/$expand", url=f"{X}?fhir_vs|{version}")
    assert expanded["expansion"]["total"] == 8
    code = "sourceCode" if base.endswith("R5") else "code"
    translated = {"system": f"{X}|{version}", code: "1"}
    assert parts(result("ConceptMap/$translate", **translated), "result") == [True]

    for given in ({"system": f"{X}|9"}, {"system": X, "version": "9"}):
        outcome = result("CodeSystem/$lookup", 404, code="1", **given)
        assert f"{X} is here {version}, not 9" in outcome["issue"][0]["diagnostics"]
    coding = body(coding={"system": X, "version": "9", "code": "1"})
    accepted(client.post(f"{base}/CodeSystem/$lookup", json=coding), base, 404)
    result("ValueSet/$expand", 404, url=f"{X}?fhir_vs|9")
    outcome = result("CodeSystem/$lookup", 422, system=f"{X}|9", code="1", version=version)
    assert "the versions 1, 9; one is expected" in outcome["issue"][0]["diagnostics"]


def test_of_several_versions_the_one_asked_for_answers(
    serving: Callable[..., TestClient], tmp_path: Path
) -> None:
    for version in ("2024", "2025"):
        concept = Concept("X:1", f"Gout of {version}", source="X", version=version)
        build(tmp_path / version, [concept])
    client = serving(index=(str(tmp_path / "2024"), str(tmp_path / "2025")))
    for version in ("2024", "2025"):
        given = {"system": f"{X}|{version}", "code": "1"}
        answer = accepted(client.get("/fhir/CodeSystem/$lookup", params=given), "/fhir")
        assert parts(answer, "display") == [f"Gout of {version}"]
    given = {"system": f"{X}|2026", "code": "1"}
    answer = client.get("/fhir/CodeSystem/$lookup", params=given)
    assert "is here 2024, 2025, not 2026" in answer.json()["issue"][0]["diagnostics"]


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize(
    ("accept", "status"),
    [
        *((None, 200), ("", 200), ("*/*", 200), ("application/json", 200), ("application/*", 200)),
        *(("application/fhir+json", 200), ("Application/FHIR+JSON; fhirVersion=4.0", 200)),
        *(("application/fhir+xml, */*;q=0.1", 200), ("text/html,application/xml;q=0.9,*/*", 200)),
        *(("application/fhir+xml", 406), ("application/xml", 406), ("text/turtle", 406)),
        *(("text/html", 406), ("application/fhir+xml, application/fhir+json;q=0", 406)),
    ],
)
def test_an_answer_is_json_or_none(
    client: TestClient, base: str, accept: str | None, status: int
) -> None:
    given = {"system": X, "code": "1"}
    for address in ("CodeSystem/$lookup", "metadata"):
        request = client.build_request("GET", f"{base}/{address}", params=given)
        del request.headers["accept"]
        if accept is not None:
            request.headers["accept"] = accept
        resource = accepted(client.send(request), base, status)
        if status == 406:
            (issue,) = resource["issue"]
            assert issue["code"] == "not-supported"
            assert "accept that, or */*" in issue["diagnostics"]
    headers = {"accept": accept or ""}
    named = {**given, "_format": "json"}
    accepted(client.get(f"{base}/CodeSystem/$lookup", params=named, headers=headers), base)


def test_an_expansion_tells_what_is_not_in_use(client: TestClient) -> None:
    given = {"url": f"{X}?fhir_vs", "filter": "old name"}
    expansion = client.get("/fhir/ValueSet/$expand", params=given).json()["expansion"]
    assert expansion["contains"] == [
        {"system": X, "inactive": True, "code": "7", "display": "Old name of nothing"}
    ]
    assert expansion["parameter"] == [{"name": "filter", "valueString": "old name"}]


def test_a_large_value_set_needs_a_count(
    serving: Callable[..., TestClient], tmp_path: Path
) -> None:
    build(tmp_path / "large", [Concept(f"X:{n}", f"Gout {n}") for n in range(1001)])
    client = serving(index=(str(tmp_path / "large"),))
    for more in ({}, {"filter": "gout"}):
        given: dict[str, Any] = {"url": f"{X}?fhir_vs", **more}
        answer = client.get("/fhir/ValueSet/$expand", params=given)
        assert accepted(answer, "/fhir", 422)["issue"][0]["code"] == "too-costly"
        answer = client.get("/fhir/ValueSet/$expand", params={**given, "count": 1000})
        assert len(_codes(answer, "/fhir")) == 1000
        answer = client.get("/fhir/ValueSet/$expand", params={**given, "count": 9, "offset": 998})
        assert len(_codes(answer, "/fhir")) == 3


@pytest.mark.parametrize("base", BASES)
def test_codes_are_translated_as_terminologies_state(both: TestClient, base: str) -> None:
    r5 = base.endswith("R5")
    names = ("sourceCode", "targetSystem") if r5 else ("code", "targetsystem")

    def matches(system: str, code: str, target: str = "") -> list[tuple[str, ...]]:
        given = {"system": system, names[0]: code, **({names[1]: target} if target else {})}
        found = accepted(both.get(f"{base}/ConceptMap/$translate", params=given), base)
        several = parts(found, "match")
        assert parts(found, "result") == [bool(several)]
        assert bool(parts(found, "message")) == (not several)
        relation = "relationship" if r5 else "equivalence"
        members = [(match[relation], match["concept"]) for match in several]
        return [(r, c["system"], c["code"], c.get("display", "")) for r, c in members]

    related = "related-to" if r5 else "relatedto"
    diabetes = (related, ICD, "E11.9", "Type 2 diabetes")
    assert matches(X, "3", ICD) == [diabetes]
    assert diabetes in matches(X, "3")
    assert (related, X, "3", "Type 2 diabetes mellitus") in matches(ICD, "E11.9")
    umls = "http://www.nlm.nih.gov/research/umls"
    assert matches(ICD, "I21", umls) == [(related, umls, "C0155626", "")]
    assert matches("http://loinc.org", "1-8") == []
    coding = body(**{"sourceCoding" if r5 else "coding": {"system": X, "code": "3"}})
    found = accepted(both.post(f"{base}/ConceptMap/$translate", json=coding), base)
    assert parts(found, "result") == [True]


@pytest.mark.parametrize("base", BASES)
def test_capabilities_name_operations_and_systems(both: TestClient, base: str) -> None:
    stated = accepted(both.get(f"{base}/metadata"), base)
    assert stated["fhirVersion"] == ("5.0.0" if base.endswith("R5") else "4.0.1")
    assert stated["implementation"]["url"].endswith(base)
    operations = {
        f"{resource['type']}/${operation['name']}"
        for resource in stated["rest"][0]["resource"]
        for operation in resource["operation"]
    }
    assert operations == {*OPERATIONS}
    able = accepted(both.get(f"{base}/metadata?mode=terminology"), base)
    systems = {each["uri"]: each.get("version") for each in able["codeSystem"]}
    assert systems[ICD] == [{"code": "2026"}]
    assert X in systems


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize(
    ("address", "status", "code", "said"),
    [
        ("CodeSystem/$lookup?system=urn:none&code=1", 404, "not-found", f"there are {X}"),
        (f"CodeSystem/$lookup?system={X}&code=99", 404, "not-found", "there is no code 99"),
        (f"CodeSystem/$lookup?system={X}&code=1&version=7", 404, "not-found", "is here 1, not 7"),
        ("CodeSystem/$lookup?code=1", 422, "invalid", "system and code are expected"),
        (f"CodeSystem/$lookup?system={X}&code=1&code=2", 422, "invalid", "code is given 2 times"),
        (f"CodeSystem/$lookup?system={X}&code=1&date=2020", 422, "invalid", "'date'"),
        (f"CodeSystem/$lookup?system={X}&code={'1' * 1001}", 422, "invalid", "at most 1,000"),
        (f"CodeSystem/$lookup?system={X}&code=1&_format=xml", 422, "invalid", "json"),
        (f"ValueSet/$expand?url={X}", 422, "invalid", "?fhir_vs are expected"),
        (f"ValueSet/$expand?url={X}?fhir_vs&count=many", 422, "invalid", "a number from 0"),
        (f"ValueSet/$expand?url={X}?fhir_vs&count=-1", 422, "invalid", "a number from 0"),
        (f"ValueSet/$expand?url={X}?fhir_vs&activeOnly=maybe", 422, "invalid", "true or false"),
        ("Patient/1", 404, "not-found", "CodeSystem/$lookup"),
    ],
)
def test_errors_are_outcomes(
    client: TestClient, base: str, address: str, status: int, code: str, said: str
) -> None:
    (issue,) = accepted(client.get(f"{base}/{address}"), base, status)["issue"]
    assert issue["code"] == code
    assert said in issue["diagnostics"]


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"[]", b"{", b'{"resourceType": "Patient"}', b"[" * 100_000),
        b'{"resourceType": "Parameters", "parameter": 1}',
        b'{"resourceType": "Parameters", "parameter": [1]}',
        b'{"resourceType": "Parameters", "parameter": [{"name": "code"}]}',
        b'{"resourceType": "Parameters", "parameter": [{"name": "coding", "valueCoding": 1}]}',
        b'{"resourceType": "Parameters", "parameter": [{"name": "coding", "valueCoding": '
        b'{"system": "\\ud800", "code": "1"}}]}',
        b'{"resourceType": "Parameters", "parameter": [{"name": "code", "valueCode": [1]}]}',
        b'{"resourceType": "Parameters", "parameter": [{"name": "\\ud800", "valueCode": "1"}]}',
    ],
)
def test_bodies_that_cannot_be_used_are_refused(client: TestClient, content: bytes) -> None:
    for operation in OPERATIONS:
        answer = client.post(f"/fhir/{operation}", content=content)
        assert accepted(answer, "/fhir", 422)["issue"][0]["code"] == "invalid"


def test_operations_need_a_key_and_are_counted(
    serving: Callable[..., TestClient], index: Path, tmp_path: Path
) -> None:
    keys = Keys.create(tmp_path / "keys.db")
    headers = {"Authorization": f"Bearer {keys.add('reader', 'read')}"}
    client = serving(index=(str(index),), keys=str(keys.path), rate_limit=10)
    for operation in OPERATIONS:
        for method in ("GET", "POST"):
            answer = client.request(method, f"/fhir/{operation}")
            assert accepted(answer, "/fhir", 401)["issue"][0]["code"] == "login"
            assert answer.headers["www-authenticate"] == "Bearer"
    assert client.get("/fhir/metadata").status_code == 200
    address = f"/fhir/CodeSystem/$lookup?system={X}&code=1"
    assert client.get(address, headers=headers).status_code == 200
    answers = [client.get(address, headers=headers) for _ in range(10)]
    assert accepted(answers[-1], "/fhir", 429)["issue"][0]["code"] == "throttled"
    assert "retry-after" in answers[-1].headers
