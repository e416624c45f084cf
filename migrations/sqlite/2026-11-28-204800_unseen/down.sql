DROP INDEX documents_unseen;
