package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	drawing "github.com/anekit/anekit/cmd/ane-roundtrip/internal/report"
	"github.com/anekit/anekit/internal/wholefile"
)

// reportFile is the file of --report: the object that --json prints, or a page of it.
type reportFile struct {
	path   string
	file   *wholefile.File // nil without the flag, and until begin
	notice string          // what to say of the file when it is written; may be empty
}

// Extensions of --report.
const (
	asObject = ".json"
	asPage   = ".html"
)

// kind returns the extension of the file, in lower case.
func (r *reportFile) kind() string { return strings.ToLower(filepath.Ext(r.path)) }

// saveFlag adds --report to a command.
func (a *app) saveFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.saved.path, "report", "", "write the report to `FILE`.json or FILE.html")
}

// input is a file that a command line names as input.
type input struct{ flag, path string }

// named is an input of a flag that may be empty.
func named(flag, path string) []input {
	if path == "" {
		return nil
	}
	return []input{{flag, path}}
}

// beginReport starts the file of --report, so that the command fails before it works if it cannot write that file. The
// file is none of the inputs. Without the flag it does nothing.
func (a *app) beginReport(cmd *cobra.Command, files *commandFiles, inputs ...input) error {
	if !cmd.Flags().Changed("report") {
		return nil
	}
	if err := a.saved.check(); err != nil {
		return err
	}
	for _, in := range inputs {
		if in.path == stdio {
			if info, err := os.Stdin.Stat(); err == nil {
				files.sources = append(files.sources, source{in.flag, "standard input", info})
			}
			continue
		}
		files.recordPath(in.flag, in.path)
	}
	f, err := files.create("--report", a.saved.path)
	if err != nil {
		return err
	}
	a.saved.file = f
	return nil
}

// check rejects a name with another extension.
func (r *reportFile) check() error {
	switch kind := r.kind(); {
	case r.path == "":
		return badf("--report needs the name of a file; give --report FILE.json or FILE.html")
	case kind != asObject && kind != asPage:
		return badf("--report %s: the name ends neither in %s nor in %s; give one of them", r.path, asObject, asPage)
	}
	return nil
}

// clash returns an error if the file of --report, which was started before the command knew all that it reads, is one
// of the inputs. The file is then discarded.
func (t *commandFiles) clash() error {
	f := t.app.saved.file
	if f == nil {
		return nil
	}
	for _, s := range t.sources {
		if f.Old() != nil && f.Old().Mode().IsRegular() && os.SameFile(f.Old(), s.info) {
			t.app.discardReport()
			return t.refuse("--report", t.app.saved.path, s.info)
		}
	}
	for _, s := range t.missing {
		if f.Makes(s.path) {
			t.app.discardReport()
			return badf("--report: %s is the path of %s (%s); name another file", t.app.saved.path, s.what, s.path)
		}
	}
	return nil
}

// readsModel returns an error if the file of --report is one of the files in the folder of a model.
func (a *app) readsModel(folder string) error {
	all, err := os.ReadDir(folder)
	if err != nil {
		return nil // which opening the model reports
	}
	t := &commandFiles{app: a}
	for _, e := range all {
		t.recordPath("--model", filepath.Join(folder, e.Name()))
	}
	return t.clash()
}

func (a *app) discardReport() {
	a.saved.file.Discard()
	a.saved.file = nil
}

// saveReport writes the file of --report.
func (a *app) saveReport(r report) error {
	f := a.saved.file
	if f == nil {
		return nil
	}
	defer f.Discard()
	err := func() error {
		var object bytes.Buffer
		if err := r.write(&object); err != nil {
			return err
		}
		if a.saved.kind() == asPage {
			return drawing.Write(f, object.Bytes())
		}
		_, err := f.Write(object.Bytes())
		return err
	}()
	if err == nil {
		err = f.Commit()
	}
	if err == nil && a.saved.notice != "" {
		a.logf("%s %s", a.saved.path, a.saved.notice)
	}
	return unwritten(a.saved.path, err)
}

// reports says whether the command makes the object that --json prints.
func (a *app) reports() bool { return a.json || a.saved.file != nil }

// finish describes the end of the command in its object.
func (a *app) finish(ctx context.Context, r *report, err error) {
	if err == nil {
		return
	}
	r.Verdict, r.Error = verdictFail, failureOf(ctx, err, r.Checks)
	if r.Error.Code == codeUnavailable {
		r.Verdict = verdictUnavailable
	}
}
