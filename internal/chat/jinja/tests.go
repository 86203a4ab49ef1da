package jinja

import "strings"

// test applies a test.
func (f *frame) test(named string, v any, a *arguments) bool {
	f.spend(1)
	sign, ok := map[string]string{"eq": "==", "equalto": "==", "==": "==", "ne": "!=", "!=": "!=", "lt": "<",
		"lessthan": "<", "<": "<", "le": "<=", "<=": "<=", "gt": ">", "greaterthan": ">", ">": ">", "ge": ">=",
		">=": ">=", "in": "in"}[named]
	if ok {
		return f.holds(v, sign, a.at(0, "other"))
	}
	_, none := v.(undefined)
	switch named {
	case "defined":
		return !none
	case "undefined":
		return none
	case "none":
		return v == nil
	case "true":
		return v == true
	case "false":
		return v == false
	case "boolean", "string", "float", "mapping", "integer", "number", "sequence", "iterable", "callable":
		return is(named, v)
	case "sameas":
		other := a.at(0, "other")
		return typeName(v) == typeName(other) && f.equal(v, other)
	case "odd", "even", "divisibleby":
		by := 2
		if named == "divisibleby" {
			by = integer(a.at(0, "num"), "the number")
		}
		return f.equal(f.calculate(v, "%", by), 0) != (named == "odd")
	case "filter":
		s, ok := v.(string)
		return ok && isFilter(s)
	case "escaped":
		return false
	}
	fail("no test named ", quoted(named))
	return false
}

// is reports whether a value is of a type.
func is(named string, v any) bool {
	_, sized := elements(v)
	switch kind := typeName(v); named {
	case "boolean":
		return kind == "bool"
	case "integer":
		return kind == "int"
	case "float":
		return kind == "float"
	case "number":
		return kind == "bool" || kind == "int" || kind == "float"
	case "string":
		return kind == "str"
	case "mapping":
		return kind == "dict"
	case "callable":
		return kind == "function"
	case "sequence":
		return kind == "str" || sized && !strings.HasPrefix(kind, "dict_")
	default:
		return kind == "str" || kind == "generator" || sized
	}
}
