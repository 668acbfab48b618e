"""The REST API: OpenAI's audio endpoints, uploads and jobs, on Powertools' resolver; `service` puts it together."""
