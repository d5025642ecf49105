-- A repeated delivery is recognised in memory, so no query needs this index.
DROP INDEX decisions_of_delivery;
