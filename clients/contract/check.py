#!/usr/bin/env python3
"""Holds the answers that the tests received against the public OpenAPI documents.

    check.py FOLDER

reads what the tests wrote there under LOCUM_RECORD: one answer a line. `tweets.json` and
`posts.json` beside this file are the two vocabularies; `scripts/contract` made them.
"""
import collections
import json
import pathlib
import re
import sys

import jsonschema

HERE = pathlib.Path(__file__).resolve().parent
WORDS = {
    "posts": "tweets", "reposts": "retweets", "reposted_by": "retweeted_by",
    "liked_posts": "liked_tweets", "quote_posts": "quote_tweets",
    "reposts_of_me": "reposts_of_me", "reverse_cronological": "reverse_chronological",
}
# What the interface asks for and a document says otherwise; each with its reason.
EXCEPTIONS = json.loads((HERE / "exceptions.json").read_text())


def plain(schema):
    """Says in JSON Schema what the documents say in OpenAPI 3.0."""
    if isinstance(schema, list):
        return [plain(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return {"$ref": "#/schemas/" + schema["$ref"].rsplit("/", 1)[-1]}
    made = {key: plain(value) for key, value in schema.items() if key not in ("discriminator", "nullable")}
    return {"anyOf": [made, {"type": "null"}]} if schema.get("nullable") is True else made


class Document:
    def __init__(self, name):
        raw = json.loads((HERE / f"{name}.json").read_text())
        self.name, self.paths = name, raw["paths"]
        self.root = {"schemas": {key: plain(value) for key, value in raw["schemas"].items()}}
        self.routes = []
        for path in raw["paths"]:
            fixed = [part for part in path.split("/") if not part.startswith("{")]
            pattern = re.compile(re.sub(r"\{[^}]+\}", "[^/]+", path) + "$")
            self.routes.append((-len(fixed), path, pattern))
        self.routes.sort()
        self.validators = {}

    def path(self, path):
        for candidate in (path, "/".join(WORDS.get(part, part) for part in path.split("/"))):
            for _, known, pattern in self.routes:
                if pattern.match(candidate):
                    return known
        return None

    def faults(self, method, path, status, kind, body):
        """What is wrong; None where the document does not say."""
        known = self.path(path)
        operation = self.paths[known].get(method.lower()) if known else None
        if not operation:
            return None
        responses = operation["responses"]
        said = responses.get(str(status)) or (responses.get("default") if status >= 400 else None)
        if not said and 200 <= status < 300:
            # The two documents disagree on 200 and 201 here and there.
            said = next((said for key, said in responses.items() if key.startswith("2")), None)
        content = (said or {}).get("content", {})
        schema = (content.get(kind) or content.get("application/json") or {}).get("schema")
        if not schema:
            return None
        key = json.dumps(schema)
        if key not in self.validators:
            self.validators[key] = jsonschema.Draft202012Validator(plain(schema) | self.root)
        return [explain(error) for error in self.validators[key].iter_errors(body)]


def explain(error):
    while error.context:
        error = max(error.context, key=lambda inner: (len(inner.absolute_path), len(inner.message) * -1))
    place = "/".join("*" if isinstance(part, int) else str(part) for part in error.absolute_path)
    return f"{place or '(root)'}: {error.message[:160]}"


def spoken(target):
    path, _, query = target.partition("?")
    if "post.fields" in query or re.search(r"/(posts|reposts|liked_posts|quote_posts|reposted_by)\b", path):
        return ("posts",)
    if "tweet.fields" in query:
        return ("tweets",)
    # Nothing but the path tells, or words of the expansions do: either vocabulary, as a whole.
    return ("posts", "tweets")


def excepted(operation, fault):
    return any(
        re.search(entry["operation"], operation) and re.search(entry["fault"], fault) for entry in EXCEPTIONS
    )


def main():
    documents = {name: Document(name) for name in ("tweets", "posts")}
    wrong, held, seen, silent = collections.Counter(), 0, set(), 0
    for file in sorted(pathlib.Path(sys.argv[1]).glob("*.jsonl")):
        for line in file.read_text().splitlines():
            answer = json.loads(line)
            path = answer["target"].partition("?")[0]
            if not path.startswith("/2/") or answer["method"] == "HEAD":
                continue
            results = []
            for name in spoken(answer["target"]):
                document = documents[name]
                faults = document.faults(
                    answer["method"], path, answer["status"], answer["type"], answer["body"]
                )
                if faults is not None:
                    operation = f"{answer['method']} {document.path(path)}"
                    results.append((operation, [fault for fault in faults if not excepted(operation, fault)]))
            if not results:
                silent += 1
                continue
            seen.update(operation for operation, _ in results)
            operation, faults = min(results, key=lambda result: len(result[1]))
            held += not faults
            for fault in faults:
                wrong[f"{operation} {answer['status']} {fault}"] += 1
    for fault, times in wrong.most_common(100):
        print(f"{times:5} {fault}")
    print(f"{held} answers of {len(seen)} operations held; the documents are silent about {silent}")
    failed = len(wrong) + (held == 0)
    print(f"test result: {'FAILED' if failed else 'ok'}. {held} passed; {failed} failed;")
    sys.exit(1 if failed else 0)


main()
