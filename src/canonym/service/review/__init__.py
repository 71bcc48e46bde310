"""The review page, and the routes under ``/v1/reviews`` that it uses."""
