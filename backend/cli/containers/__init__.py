"""Programs for the containers of docker-compose.yml."""
