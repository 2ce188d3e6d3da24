"""Judging an attempt by its pictures and actions with a vision-language model: what is asked, and what an answer is."""
