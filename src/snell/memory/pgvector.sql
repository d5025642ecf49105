-- Columns with the vectors of memories, and their indexes. The function makes a vector from signed bytes.
CREATE OR REPLACE FUNCTION memory_vector (numbers BYTEA) RETURNS {vector} LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
AS $$
  SELECT ('[' || string_agg(((get_byte(numbers, at) + 128) % 256 - 128)::text, ',' ORDER BY at) || ']')::{vector}
  FROM generate_series(0, octet_length(numbers) - 1) AS at
$$;
ALTER TABLE memories ADD COLUMN near {vector} GENERATED ALWAYS AS (memory_vector(vector)) STORED;
ALTER TABLE memories ADD COLUMN dense_near {vector} GENERATED ALWAYS AS (memory_vector(dense)) STORED;
CREATE INDEX memories_by_near ON memories USING hnsw ((near::{vector}({width})) {schema}.vector_cosine_ops)
  WHERE octet_length(vector) = {width};
CREATE INDEX memories_by_dense_near ON memories USING hnsw
  ((dense_near::{vector}({model_width})) {schema}.vector_cosine_ops) WHERE octet_length(dense) = {model_width};
