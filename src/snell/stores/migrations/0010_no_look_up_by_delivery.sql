-- A delivery that comes again is known from memory, or from what a killed process left behind; nobody asks here.
DROP INDEX decisions_of_delivery;
