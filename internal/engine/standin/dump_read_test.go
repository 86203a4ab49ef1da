package standin

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSplitDump(t *testing.T) {
	for name, want := range map[string]struct {
		file string
		row  int
	}{
		"a": {"a", -1}, "a#3": {"a", 3}, "a#b": {"a#b", -1}, "a#b.json#0": {"a#b.json", 0}, "a#1#2": {"a#1",
			2}, "#3": {"#3", -1},
		"a#": {"a#", -1}, "a#+3": {"a#+3", -1}, "a#-3": {"a#-3",
			-1}, "a#99999999999999999999": {"a#99999999999999999999", -1}, "": {"", -1},
	} {
		file, row := SplitDump(name)
		require.Equal(t, want.file, file, name)
		require.Equal(t, want.row, row, name)
	}
}

func TestGenerations(t *testing.T) {
	for os, want := range map[string]string{
		"macOS 12.6": "15", "macOS 13": "16.5", "macOS 14.5 (23F79)": "17", "macOS 15.1": "",
		"macOS 26.5 (25F84)": "26", "macOS 27.0": "27", "macOS 28.0 (28A100)": "27", "28.1": "27", "macOS 126": "27",
		"macOS Tahoe": "", "macOS 15.5": "",
		"iOS 18 class": "", "Darwin 25.5, M3 Max": "", "not printed; 26.5.2": "26", "": "", "macOS of 2025-02-21": "",
		"MACOS 27": "27", "3.1": "",
	} {
		profile, named := profileOf(os)
		require.Equal(t, want != "", named, os)
		if want != "" {
			require.Equal(t, want, profile, os)
		}
	}
}

// TestDocumentsAroundAttributes: ReadDump finds attributes in the documents
// that info --attributes accepts.
func TestDocumentsAroundAttributes(t *testing.T) {
	const attributes = `{"NetworkStatusList": [{"Name": "main", "LiveInputList": [{"Symbol": "x"}]}]}`
	for _, file := range []string{attributes, `[` + attributes + `]`, `[1, [{"a": ` + attributes + `}]]`,
		`{"a": {"b": [` + attributes + `]}}`,
		`{"data": {"attr": ` + attributes + `}}`, `{"data": [` + attributes + `]}`} {
		d, err := ReadDump(written(t, file))
		require.NoError(t, err, file)
		require.Equal(t, "x", d.Program.Inputs[0].Name)
		require.Empty(t, d.Ignored, file)
	}
}

func TestFactsAtTheTop(t *testing.T) {
	d, err := ReadDump(written(t, `{"data": {"hasANE": "NO", "isVirtualMachine": "YES", "isInternalBuild": 0, "numANECores": 16, "aneSubType": "h16"}}`))
	require.NoError(t, err)
	require.Empty(t, d.Ignored)
	for key, want := range map[string]any{"hasANE": false, "isVirtualMachine": true, "isInternalBuild": false,
		"numANECores": int64(16), "aneSubType": "h16"} {
		got, _ := d.tables["device"].Get(key)
		require.Equal(t, want, got, key)
	}
}

func TestMissingClasses(t *testing.T) {
	d, err := ReadDump(written(t, `{"data": {"self_check": [{"class": "_ANERequest", "selector": "", "found": ""}, {"class": "_ANEClient", "found": "", "status": "missing"},
		{"class": "_ANEModel", "selector": "state", "status": "missing"}, {"class": "_ANEModel", "selector": "key"}, {"class": "_ANEModel", "found": "c@:"}]}}`))
	require.NoError(t, err)
	require.Equal(t, []string{"_ANERequest", "_ANEClient", "_ANEModel state"}, d.missing)
	require.Empty(t, d.changed)
}

func TestIgnoredKeys(t *testing.T) {
	for file, want := range map[string][]string{
		`{"data": {"budget": {"compiles": 3}, "device": {"hasANE": true}, "times": 4}}`:                                         {"budget", "times"},
		`{"data": {"device": {"speed": 3}, "errors": []}}`:                                                                      {"device", "errors"},
		`{"data": {"errors": [{"stage": "load", "code": 6}, {"words": "w"}, {"stage": "load", "code": 3, "recovered": true}]}}`: {"errors#1"},
		`{"data": [{"stage": "load", "code": 6}, {"program": "p"}]}`:                                                            {"#1"},
		`{"data": 5}`: {"data"},
		`{"data": {"before": {"NetworkStatusList": []}, "later": {"NetworkStatusList": [{}]}, "model": {"state": 3}}}`: {"later"},
		`{"data": {"NetworkStatusList": [{}], "ErrorList": [], "ModelMaxDramUsage": 3, "notes": "n"}}`:                 {"notes"},
	} {
		d, err := ReadDump(written(t, file))
		require.NoError(t, err, file)
		require.Equal(t, want, d.Ignored, file)
	}
	require.Equal(t, []string{"levels"}, dumped(t, "compile-errors.json").Ignored)
	require.Empty(t, dumped(t, "m1-status-head.json").Ignored)
	require.Empty(t, dumped(t, "device-info.json").Ignored)
}
