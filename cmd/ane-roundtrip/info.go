package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/mil/ops"
	"github.com/anekit/anekit/objcbridge"
)

func (a *app) infoCommand() *cobra.Command {
	var attributes, report string
	cmd := &cobra.Command{
		Use:   "info [--attributes FILE | --report FILE]",
		Short: "Tell which engines this machine has, and why the others are not available",
		Long: `info tells which engines this machine has, and why the others are not
available. For engines behind a framework it prints what the framework says of
the machine, and every method of it that anekit calls with the type encoding it
expects and the one it finds. With --json, "dump" holds what the framework said
in a form that the stand-in can say again.

--report FILE writes that dump alone, with the round trip of every model and the
reason of every failure: the file to attach when something does not work on a
Mac. It names no user, no host, no serial number, and no path outside of folders
for temporary and system files. The exit status is that of the round trip; the
file is written in any case.

--attributes FILE reads the modelAttributes of a compiled program, as JSON or as
the XML property list that macOS prints, alone or within a dump, and tells how
anekit places each tensor, or why it cannot (exit status 2).`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case attributes != "" && report != "":
				return badf("--attributes and --report are two commands; give one of them")
			case cmd.Flags().Changed("attributes"):
				return a.attributes(attributes)
			case cmd.Flags().Changed("report"):
				return a.report(cmd.Context(), report)
			}
			return a.info(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.StringVar(&attributes, "attributes", "", "tell how the tensors of the compiled program in `FILE` are placed")
	f.StringVar(&report, "report", "", "write what this machine said, and a round trip, to `FILE`")
	return cmd
}

// infoDetails are what info adds to the report.
type infoDetails struct {
	Engines    []engine.Status `json:"engines"`
	Frameworks []framework     `json:"frameworks"`
	Operators  []string        `json:"operators"`
}

// framework is one that was loaded.
type framework struct {
	Engine string `json:"engine"`
	Error  string `json:"error,omitempty"`
	objcbridge.Report
}

// frameworks inspects those that can be loaded here.
func frameworks() []framework {
	found := []framework{}
	for _, name := range []string{engine.Apple, engine.StandIn} {
		r, err := engine.Inspect(name)
		if r.Framework == "" {
			continue // no bridge, or another system: the table of engines says so
		}
		f := framework{Engine: name, Report: r}
		if err != nil {
			f.Error = oneLine(err.Error())
		}
		found = append(found, f)
	}
	return found
}

// info prints the machine and its engines.
func (a *app) info(ctx context.Context) error {
	d, unavailable := a.open(nil)
	var err error
	if unavailable != nil && !errors.Is(unavailable, ane.ErrUnavailable) {
		return unavailable
	}
	defer d.Close()
	r := newReport("info", d)
	if unavailable != nil {
		r.Verdict, r.Error = verdictUnavailable, oneLine(unavailable.Error())
	}
	details := infoDetails{engine.Probe(), frameworks(), ops.Names()}
	r.Details = details
	if a.json {
		if r.Dump, err = a.dump(ctx); err != nil {
			return err
		}
		return errors.Join(unavailable, r.write(a.out))
	}
	h := r.Host
	w := columns(a.out)
	fmt.Fprintf(w, "anekit\t%s, %s\n", h.Version, h.Go)
	fmt.Fprintf(w, "host\t%s/%s, %d CPUs, %d-byte pages\n", h.OS, h.Arch, h.CPUs, h.Page)
	pinned := "pinned"
	if !h.Pinned {
		pinned = "not pinned"
	}
	fmt.Fprintf(w, "memory\t%s, %s\n", h.Memory, pinned)
	fmt.Fprintf(w, "fp16\t%s\n", h.FP16)
	answer := "not available"
	if r.Engine != nil {
		answer = fmt.Sprintf("%s: %s, %s", r.Engine.Engine, r.Engine.Chip, r.Engine.OSBuild)
	}
	fmt.Fprintf(w, "%s\t%s\n\n", a.engine, answer)
	fmt.Fprintln(w, "engine\tavailable\twhat\twhy not")
	for _, s := range details.Engines {
		yes := "yes"
		if !s.Available {
			yes = "no"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", s.Name, yes, s.What, s.Reason)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, f := range details.Frameworks {
		if err := f.print(a.out); err != nil {
			return err
		}
	}
	return unavailable
}

// print writes the framework's tables.
func (f framework) print(out io.Writer) error {
	w := columns(out)
	fmt.Fprintf(w, "\nframework of %s\t%s\n", f.Engine, f.Framework)
	fmt.Fprintf(w, "bridge\t%s\n", cmp.Or(f.Library, "part of this binary"))
	if f.Error != "" {
		fmt.Fprintf(w, "error\t%s\n", f.Error)
	}
	if d := f.Device; d != nil {
		fmt.Fprintf(w, "hasANE\t%s\n", d.HasANE)
		fmt.Fprintf(w, "architecture\t%s\n", cmp.Or(d.Architecture, "not told"))
		fmt.Fprintf(w, "engines, cores\t%s, %s\n", count(int64(d.Engines)), count(int64(d.Cores)))
		fmt.Fprintf(w, "board\t%s\n", count(d.Board))
		fmt.Fprintf(w, "system\t%s, build %s\n", cmp.Or(d.Product, "not told"), cmp.Or(d.Build, "not told"))
		fmt.Fprintf(w, "virtual machine\t%s\n", d.VirtualMachine)
	}
	u := f.Usage
	fmt.Fprintf(w, "compiles\t%d of %d that this process may spend\n", u.Compiles, u.CompileLimit)
	fmt.Fprintf(w, "loaded\t%d of %d programs\n", u.Loaded, u.ProgramLimit)
	for _, p := range f.Registry {
		fmt.Fprintf(w, "%s\t%s\n", p.Name, p.Value)
	}
	if len(f.Registry) == 0 {
		fmt.Fprintf(w, "DeviceProperties\tnot readable: %s\n", f.Unread)
	}
	fmt.Fprintln(w)
	fmt.Fprintln(w, "method\tstatus\texpected\tfound\tneeded for")
	for _, c := range f.Checks {
		sign := "-"
		if c.ClassMethod {
			sign = "+"
		}
		status := c.Status.String()
		if !c.Required && c.Status != objcbridge.CheckOK {
			status += " (optional)"
		}
		fmt.Fprintf(w, "%s[%s %s]\t%s\t%s\t%s\t%s\n", sign, c.Class, c.Selector, status, c.Expected, cmp.Or(c.Found, "-"), c.NeededFor)
	}
	return w.Flush()
}

// count prints a number that may not be known.
func count(n int64) string {
	if n < 0 {
		return "not told"
	}
	return fmt.Sprint(n)
}
