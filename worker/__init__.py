"""Worker: everything that touches a machine or a model. Kept empty, for a light desktop supervisor."""
