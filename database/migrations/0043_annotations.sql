-- The catalogue of entities that posts are annotated with, and what a post is annotated with.
CREATE TABLE annotation_entity (
    domain_id BIGINT NOT NULL,
    id BIGINT NOT NULL,
    domain_name TEXT NOT NULL,
    domain_description TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    aliases TEXT NOT NULL,
    PRIMARY KEY (domain_id, id)
);
ALTER TABLE post ADD COLUMN context_annotations TEXT NOT NULL DEFAULT '';
