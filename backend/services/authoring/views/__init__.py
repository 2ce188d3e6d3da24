"""Views of drafts."""
