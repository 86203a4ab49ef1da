package lint

import (
	"encoding/json"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
)

// object is an object of a SARIF log. The types of go-sarif would link net/http.
type object = map[string]any

func sarifText(s string) object { return object{"text": s} }

// sarif prints the findings as a log of SARIF 2.1.0 (OASIS, March 2020), which code hosts show beside the lines. Members
// with their default values are left out, except for the languages and the line ends, which go-sarif reads as empty if
// they are missing.
func sarif(w io.Writer, d *details) error {
	rules, results := []object{}, []object{}
	for _, f := range d.Files {
		lines := strings.Split(f.text, "\n")
		artifact := object{"uri": (&url.URL{Path: filepath.ToSlash(f.File)}).String()}
		for _, x := range f.Findings {
			index := slices.IndexFunc(rules, func(r object) bool { return r["id"] == x.Rule })
			if index < 0 {
				index = len(rules)
				rules = append(rules, rule(x))
			}
			place := object{"artifactLocation": artifact}
			if x.Known() {
				place["region"] = region(lines, x)
			}
			result := object{"ruleId": x.Rule, "ruleIndex": index, "level": x.Severity,
				"message": sarifText(x.Message + "; " + x.Fix), "locations": []object{{"physicalLocation": place}},
				"properties": object{"chips": x.Chips, "roads": x.Compilers}}
			if x.Fixable {
				result["fixes"] = []object{{"description": sarifText(x.Fix), "artifactChanges": []object{
					{"artifactLocation": artifact, "replacements": replacements(f.text, x)}}}}
			}
			results = append(results, result)
		}
	}
	const language = "en-US"
	driver := object{"name": "ane-roundtrip", "version": cli.Version(), "language": language, "rules": rules,
		"informationUri": "https://github.com/anekit/anekit"}
	run := object{"tool": object{"driver": driver}, "columnKind": "unicodeCodePoints", "language": language,
		"newlineSequences": []string{"\r\n", "\n"}, "results": results}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(object{"version": "2.1.0", "runs": []object{run}, "$schema": "https://raw.githubusercontent.com/" +
		"oasis-tcs/sarif-spec/main/sarif-2.1/schema/sarif-schema-2.1.0.json"})
}

// rule describes the rule of a finding.
func rule(f finding) object {
	r := f.Finding.Rule
	return object{"id": r.ID, "shortDescription": sarifText(r.Title), "fullDescription": sarifText(r.Reason),
		"help": sarifText(r.Fix + " (" + r.Source + ")"), "defaultConfiguration": object{"level": r.Severity}}
}

// region is the place of a finding; columns count characters.
func region(lines []string, f finding) object {
	r := object{"startLine": f.Line}
	if f.Col > 0 {
		line := lines[f.Line-1]
		r["startColumn"] = utf8.RuneCountInString(line[:min(f.Col-1, len(line))]) + 1
	}
	return r
}

// replacements are the edits that fix a finding.
func replacements(text string, f finding) (all []object) {
	at := func(offset int) (line, column int) {
		before := text[:offset]
		return strings.Count(before, "\n") + 1, utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
	}
	for _, e := range f.Edits {
		line, column := at(e.Start)
		endLine, endColumn := at(e.End)
		all = append(all, object{"insertedContent": sarifText(e.New), "deletedRegion": object{"startLine": line,
			"startColumn": column, "endLine": endLine, "endColumn": endColumn}})
	}
	return all
}
