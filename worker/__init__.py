"""What is done: everything that touches a machine or a model. Kept empty: the keeper imports it and must stay light."""
