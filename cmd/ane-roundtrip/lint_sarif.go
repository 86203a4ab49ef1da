package main

import (
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/anekit/anekit/ane/mil/lint"
)

// sarif prints the findings as a SARIF 2.1.0 log, which code hosts show beside the lines.
func (a *app) sarif(d lintDetails) error {
	run := sarif.NewRunWithInformationURI("ane-roundtrip", "https://github.com/anekit/anekit").
		WithColumnKind("unicodeCodePoints")
	run.Tool.Driver.WithVersion(version())
	for _, f := range d.Files {
		lines := strings.Split(string(f.text), "\n")
		for i := range f.findings {
			x := &f.findings[i]
			rule := run.AddRule(x.Rule.ID)
			rule.WithShortDescription(sarif.NewMultiformatMessageString().WithText(x.Rule.Title)).
				WithFullDescription(sarif.NewMultiformatMessageString().WithText(x.Rule.Reason)).
				WithHelp(sarif.NewMultiformatMessageString().WithText(x.Rule.Fix + " (" + x.Rule.Source + ")")).
				WithDefaultConfiguration(sarif.NewReportingConfiguration().WithLevel(x.Rule.Severity.String()))
			result := run.CreateResultForRule(x.Rule.ID).WithLevel(x.Severity.String()).
				WithMessage(sarif.NewTextMessage(x.Message + "; " + x.Fix))
			bag := sarif.NewPropertyBag()
			bag.Add("chips", words(x.Chips))
			bag.Add("roads", words(x.Roads))
			result.WithProperties(bag)
			artifact := sarif.NewSimpleArtifactLocation(filepath.ToSlash(f.File))
			place := sarif.NewPhysicalLocation().WithArtifactLocation(artifact)
			if x.Pos.Known() {
				region := sarif.NewRegion().WithStartLine(x.Pos.Line)
				if x.Pos.Col > 0 {
					region.WithStartColumn(column(lines, x.Pos.Line, x.Pos.Col))
				}
				place.WithRegion(region)
			}
			result.AddLocation(sarif.NewLocationWithPhysicalLocation(place))
			if len(x.Edits) > 0 {
				change := sarif.NewArtifactChange().WithArtifactLocation(artifact)
				for _, e := range x.Edits {
					change.AddReplacement(replacement(string(f.text), e))
				}
				result.AddFixe(sarif.NewFix().AddArtifactChange(change).WithDescription(sarif.NewTextMessage(x.Fix)))
			}
		}
	}
	report := sarif.NewReport()
	report.AddRun(run)
	return report.PrettyWrite(a.out)
}

// column returns the column in characters of a column in bytes.
func column(lines []string, line, col int) int {
	if line > len(lines) || col-1 > len(lines[line-1]) {
		return col
	}
	return utf8.RuneCountInString(lines[line-1][:col-1]) + 1
}

// replacement returns an edit in lines and columns.
func replacement(text string, e lint.Edit) *sarif.Replacement {
	at := func(offset int) (line, col int) {
		before := text[:offset]
		start := strings.LastIndexByte(before, '\n') + 1
		return strings.Count(before, "\n") + 1, utf8.RuneCountInString(before[start:]) + 1
	}
	region := sarif.NewRegion()
	line, col := at(e.Start)
	region.WithStartLine(line).WithStartColumn(col)
	line, col = at(e.End)
	region.WithEndLine(line).WithEndColumn(col)
	return sarif.NewReplacement().WithDeletedRegion(region).
		WithInsertedContent(sarif.NewArtifactContent().WithText(e.New))
}
