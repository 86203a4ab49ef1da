package cli

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/doc"
	"github.com/anekit/anekit/internal/wholefile"
)

// ReportFile is the file of --report: the object that --json prints, or a page of it.
type ReportFile struct {
	Path   string
	File   *wholefile.File // nil without the flag, and until begin
	Notice string          // what to say of the file when it is written; may be empty

	DumpAlone bool // FILE.json has the dump of the report alone, which --json then leaves out
}

// Extensions of --report.
const (
	AsObject = ".json"
	asPage   = ".html"
)

// Kind returns the extension of the file, in lower case.
func (r *ReportFile) Kind() string { return strings.ToLower(filepath.Ext(r.Path)) }

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
		a.RecordInput(in.Flag, in.Path)
	}
	f, err := a.CreateOutput("--report", a.ReportFile.Path)
	if err != nil {
		return err
	}
	a.ReportFile.File = f
	return nil
}

// CheckReport returns an error if the file of --report, which was started before the command knew all that it reads, is
// one of the inputs. The file is then discarded.
func (a *App) CheckReport() error {
	f := a.ReportFile.File
	if f == nil {
		return nil
	}
	err := a.replaces("--report", a.ReportFile.Path, f)
	if err != nil {
		f.Discard()
		a.ReportFile.File = nil
	}
	return err
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

// saveReport writes the file of --report.
func (a *App) saveReport(r *Report) error {
	f := a.ReportFile.File
	if f == nil {
		return nil
	}
	defer f.Discard()
	var content any = r
	if a.ReportFile.DumpAlone && a.ReportFile.Kind() == AsObject {
		if r.Dump == nil {
			return nil // the command failed before it had one
		}
		content, r.Dump = r.Dump, nil
	}
	object, err := encoded(content)
	switch {
	case err != nil:
	case a.ReportFile.Kind() != asPage:
		_, err = f.Write(object)
	default:
		err = doc.Write(f, object, r.View)
	}
	if err == nil {
		err = f.Commit()
	}
	if err == nil && a.ReportFile.Notice != "" {
		a.Logf("%s %s", a.ReportFile.Path, a.ReportFile.Notice)
	}
	return WriteError(a.ReportFile.Path, err)
}
