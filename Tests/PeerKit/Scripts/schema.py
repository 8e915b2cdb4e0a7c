"""Checks JSON values against the part of JSON Schema that the protocol's document uses; a keyword it does not know is a
problem, so that none is passed over."""

import re

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float)}
ANNOTATIONS = {"description", "title"}


class Schema:
    def __init__(self, document):
        self._document = document

    def _resolve(self, path):
        value = self._document
        for name in path.removeprefix("#/").split("/"):
            value = value[name]
        return value

    def problems(self, value, schema, path="$"):
        """What is wrong with a value; empty when it fits."""
        return [
            problem for name, rule in schema.items() if name not in ANNOTATIONS
            for problem in self._rule(value, name, rule, schema, path)
        ]

    def _rule(self, value, name, rule, schema, path):
        def unless(good, problem):
            return [] if good else [f"{path}: {problem}"]

        if name == "$ref":
            return self.problems(value, self._resolve(rule), path)
        if name == "type":
            is_bool = isinstance(value, bool)
            return unless(isinstance(value, TYPES[rule]) and is_bool == (rule == "boolean"), f"is no {rule}")
        if name == "const":
            return unless(value == rule, f"is not {rule}")
        if name == "enum":
            return unless(value in rule, f"is none of {rule}")
        if name == "oneOf":
            fitting = sum(not self.problems(value, each, path) for each in rule)
            return unless(fitting == 1, f"fits {fitting} of the alternatives")
        if name in ("properties", "required", "additionalProperties", "maxProperties"):
            return self._members(value, name, rule, schema, path) if isinstance(value, dict) else []
        if name in ("items", "maxItems"):
            if not isinstance(value, list):
                return []
            if name == "maxItems":
                return unless(len(value) <= rule, "is too long")
            return [each for place, item in enumerate(value) for each in self.problems(item, rule, f"{path}[{place}]")]
        if name in ("minimum", "maximum"):
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                return []
            return unless(value >= rule if name == "minimum" else value <= rule, f"breaks {name} {rule}")
        if name in ("maxLength", "pattern"):
            if not isinstance(value, str):
                return []
            good = len(value) <= rule if name == "maxLength" else re.search(rule, value)
            return unless(good, f"breaks {name} {rule}")
        return [f"{path}: the keyword {name} is not known"]

    def _members(self, value, name, rule, schema, path):
        if name == "maxProperties":
            return [] if len(value) <= rule else [f"{path}: has too many members"]
        if name == "required":
            return [f"{path}: lacks {each}" for each in rule if each not in value]
        known = schema.get("properties", {})
        if name == "properties":
            members = [(key, rule[key]) for key in value if key in rule]
        else:
            others = [key for key in value if key not in known]
            if rule is False:
                return [f"{path}: has {key}" for key in others]
            members = [(key, rule) for key in others]
        return [each for key, inner in members for each in self.problems(value[key], inner, f"{path}.{key}")]
