package lint

import (
	"encoding/json"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/anekit/anekit/ane/mil/lint"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
)

// sarif prints the findings as a SARIF 2.1.0 log, which code hosts show beside the lines.
func sarif(a *cli.App, d lintDetails) error {
	run := sarifRun{ColumnKind: "unicodeCodePoints", Language: "en-US", NewlineSequences: []string{"\r\n", "\n"},
		Results: []sarifResult{}}
	run.Tool.Driver = sarifDriver{Name: "ane-roundtrip", Version: cli.Version(),
		InformationURI: "https://github.com/anekit/anekit", Language: run.Language}
	for _, f := range d.Files {
		lines := strings.Split(string(f.text), "\n")
		artifact := sarifArtifact{(&url.URL{Path: filepath.ToSlash(f.File)}).String()}
		for i := range f.findings {
			x := &f.findings[i]
			result := sarifResult{RuleID: x.Rule.ID, RuleIndex: run.Tool.Driver.index(x.Rule), Level: x.Severity.String(),
				Message: sarifText{x.Message + "; " + x.Fix}, Locations: make([]sarifLocation, 1),
				Properties: map[string][]string{"chips": cli.Names(x.Chips), "roads": cli.Names(x.Roads)}}
			place := &result.Locations[0].Physical
			place.Artifact = artifact
			if x.Pos.Known() {
				place.Region = &sarifRegion{StartLine: x.Pos.Line}
				if x.Pos.Col > 0 {
					place.Region.StartColumn = column(lines, x.Pos.Line, x.Pos.Col)
				}
			}
			if len(x.Edits) > 0 {
				change := sarifChange{Artifact: artifact}
				for _, e := range x.Edits {
					change.Replacements = append(change.Replacements, replacement(string(f.text), e))
				}
				result.Fixes = []sarifFix{{sarifText{x.Fix}, []sarifChange{change}}}
			}
			run.Results = append(run.Results, result)
		}
	}
	text, err := json.MarshalIndent(sarifLog{sarifSchema, "2.1.0", []sarifRun{run}}, "", "  ")
	if err != nil {
		return err
	}
	_, err = a.Out.Write(text)
	return err
}

// index returns the place of a rule in Rules, and adds one that is not there.
func (d *sarifDriver) index(r *lint.Rule) int {
	if i := slices.IndexFunc(d.Rules, func(s sarifRule) bool { return s.ID == r.ID }); i >= 0 {
		return i
	}
	rule := sarifRule{ID: r.ID, ShortDescription: sarifText{r.Title}, FullDescription: sarifText{r.Reason},
		Help: sarifText{r.Fix + " (" + r.Source + ")"}}
	rule.Default.Level = r.Severity.String()
	d.Rules = append(d.Rules, rule)
	return len(d.Rules) - 1
}

// column returns the column in characters of a column in bytes.
func column(lines []string, line, col int) int {
	if line > len(lines) || col-1 > len(lines[line-1]) {
		return col
	}
	return utf8.RuneCountInString(lines[line-1][:col-1]) + 1
}

// replacement returns an edit in lines and columns.
func replacement(text string, e lint.Edit) sarifReplacement {
	at := func(offset int) (line, col int) {
		before := text[:offset]
		start := strings.LastIndexByte(before, '\n') + 1
		return strings.Count(before, "\n") + 1, utf8.RuneCountInString(before[start:]) + 1
	}
	r := sarifReplacement{Inserted: sarifText{e.New}}
	r.Deleted.StartLine, r.Deleted.StartColumn = at(e.Start)
	r.Deleted.EndLine, r.Deleted.EndColumn = at(e.End)
	return r
}
