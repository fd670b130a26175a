"""`textrawl_client.schemas` has the classes that the output schemas of the tools ask for."""

from tests.library.generation import MODULE, write_module


def test_the_results_of_the_client_have_the_fields_of_the_output_schemas() -> None:
    assert MODULE.read_text(encoding="utf-8") == write_module()
