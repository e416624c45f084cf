-- How sure the search must be for a question to be answered: cautious, balanced, eager.
ALTER TABLE agents ADD COLUMN answer_floor TEXT NOT NULL DEFAULT 'balanced';
