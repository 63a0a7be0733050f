-- What commands that a rule covers run with: a JSON object, nothing for other calls.
ALTER TABLE grants ADD COLUMN reach TEXT;
