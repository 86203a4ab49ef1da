package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The schema has one unit of time: no field is in microseconds, milliseconds or seconds.
func TestSchemaHasOneUnitOfTime(t *testing.T) {
	var doc any
	require.NoError(t, json.Unmarshal(schemaText, &doc))
	others := []string{"us", "ms", "s", "sec", "secs", "seconds", "micros", "millis", "microseconds", "milliseconds"}
	durations := 0
	var visit func(v any)
	visit = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, item := range v {
				visit(item)
			}
		case map[string]any:
			properties, _ := v["properties"].(map[string]any)
			for name := range properties {
				unit, rate := unitOf(name)
				if !rate {
					require.False(t, slices.Contains(others, unit), "%s is not in nanoseconds", name)
				}
				if unit == "ns" {
					durations++
				}
			}
			for _, item := range v {
				visit(item)
			}
		}
	}
	visit(doc)
	require.Greater(t, durations, 20)
}

// unitOf returns the last word of the name of a field, and whether the word before it is per.
func unitOf(name string) (unit string, rate bool) {
	words := strings.Split(name, "_")
	n := len(words)
	return words[n-1], n > 1 && words[n-2] == "per"
}
