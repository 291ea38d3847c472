ALTER TABLE api_key ADD COLUMN requests_per_minute INTEGER CHECK (requests_per_minute > 0);
ALTER TABLE api_key ADD COLUMN max_body_bytes INTEGER CHECK (max_body_bytes > 0)
