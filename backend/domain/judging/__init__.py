"""Judges an attempt by its pictures and actions with a vision-language model: questions and answers."""
