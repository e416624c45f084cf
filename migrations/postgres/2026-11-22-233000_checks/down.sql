DROP TABLE check_runs;
DROP TABLE agent_checks;
