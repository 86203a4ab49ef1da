package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/doc"
	drawing "github.com/anekit/anekit/cmd/ane-roundtrip/internal/report"
	"github.com/anekit/anekit/internal/wholefile"
)

// ReportFile is the file of --report: the object that --json prints, or a page of it.
type ReportFile struct {
	Path   string
	File   *wholefile.File // nil without the flag, and until begin
	Notice string          // what to say of the file when it is written; may be empty
}

// Extensions of --report.
const (
	AsObject = ".json"
	asPage   = ".html"
)

// Kind returns the extension of the file, in lower case.
func (r *ReportFile) Kind() string { return strings.ToLower(filepath.Ext(r.Path)) }

// ReportFlag adds --report to a command.
func (a *App) ReportFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.ReportFile.Path, "report", "", "write the report to `FILE`.json or FILE.html")
}

// Input is a file that a command line names as input; without a path it is none.
type Input struct{ Flag, Path string }

// BeginReport starts the file of --report, so that the command fails before it works if it cannot write that file. The
// file is none of the inputs. Without the flag it does nothing.
func (a *App) BeginReport(cmd *cobra.Command, inputs ...Input) error {
	if !cmd.Flags().Changed("report") {
		return nil
	}
	if err := a.ReportFile.Check(); err != nil {
		return err
	}
	for _, in := range inputs {
		switch in.Path {
		case "":
		case Stdio:
			if info, err := os.Stdin.Stat(); err == nil {
				a.sources = append(a.sources, source{in.Flag, "standard input", info})
			}
		default:
			a.RecordInput(in.Flag, in.Path)
		}
	}
	f, err := a.CreateOutput("--report", a.ReportFile.Path)
	if err != nil {
		return err
	}
	a.ReportFile.File = f
	return nil
}

// Check rejects a name with another extension.
func (r *ReportFile) Check() error {
	switch kind := r.Kind(); {
	case r.Path == "":
		return Badf("--report needs the name of a file; give --report FILE.json or FILE.html")
	case kind != AsObject && kind != asPage:
		return Badf("--report %s: the name ends neither in %s nor in %s; give one of them", r.Path, AsObject, asPage)
	}
	return nil
}

// CheckReport returns an error if the file of --report, which was started before the command knew all that it reads, is one
// of the inputs. The file is then discarded.
func (a *App) CheckReport() error {
	f := a.ReportFile.File
	if f == nil {
		return nil
	}
	for _, s := range a.sources {
		if f.Old() != nil && f.Old().Mode().IsRegular() && os.SameFile(f.Old(), s.info) {
			a.discardReport()
			return a.refuse("--report", a.ReportFile.Path, s.info)
		}
	}
	for _, s := range a.missing {
		if f.Makes(s.path) {
			a.discardReport()
			return Badf("--report: %s is the path of %s (%s); name another file", a.ReportFile.Path, s.what, s.path)
		}
	}
	return nil
}

// ReadsModel returns an error if the file of --report is one of the files in the folder of a model.
func (a *App) ReadsModel(folder string) error {
	all, err := os.ReadDir(folder)
	if err != nil {
		return nil // which opening the model reports
	}
	for _, e := range all {
		a.RecordInput("--model", filepath.Join(folder, e.Name()))
	}
	return a.CheckReport()
}

func (a *App) discardReport() {
	a.ReportFile.File.Discard()
	a.ReportFile.File = nil
}

// saveReport writes the file of --report.
func (a *App) saveReport(r Report) error {
	f := a.ReportFile.File
	if f == nil {
		return nil
	}
	defer f.Discard()
	err := func() error {
		var object bytes.Buffer
		if err := r.write(&object); err != nil {
			return err
		}
		if a.ReportFile.Kind() == asPage {
			if r.View == nil { // until every command has one
				return drawing.Write(f, object.Bytes())
			}
			return doc.Write(f, object.Bytes(), r.View)
		}
		_, err := f.Write(object.Bytes())
		return err
	}()
	if err == nil {
		err = f.Commit()
	}
	if err == nil && a.ReportFile.Notice != "" {
		a.Logf("%s %s", a.ReportFile.Path, a.ReportFile.Notice)
	}
	return WriteError(a.ReportFile.Path, err)
}

// Reports says whether the command makes the object that --json prints.
func (a *App) Reports() bool { return a.JSON || a.ReportFile.File != nil }

// finish describes the end of the command in its object.
func (a *App) finish(ctx context.Context, r *Report, err error) {
	if err == nil {
		return
	}
	r.Verdict, r.Error = VerdictFail, FailureOf(ctx, err)
	if r.Error.Code == CodeUnavailable {
		r.Verdict = VerdictUnavailable
	}
}
