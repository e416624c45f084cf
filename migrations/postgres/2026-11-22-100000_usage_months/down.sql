DROP INDEX usage_days_by_age;
DROP TABLE usage_months;
