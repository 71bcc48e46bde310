"""A terminology service of FHIR R4 and R5: operations, and what describes them."""
