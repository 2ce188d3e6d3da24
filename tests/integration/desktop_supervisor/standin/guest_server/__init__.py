"""A guest server without a screen, for tests of the sandbox alone: it runs commands and says what came of them."""
