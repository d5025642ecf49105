-- A delivery that comes again is known from memory; nobody asks here.
DROP INDEX decisions_of_delivery;
