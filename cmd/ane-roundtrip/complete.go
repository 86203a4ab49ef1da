package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/coreml"
	millint "github.com/anekit/anekit/ane/mil/lint"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/bench"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/check"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/probe"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/tensorfile"
	"github.com/anekit/anekit/internal/numerics"
	"github.com/anekit/anekit/internal/sniff"
	"github.com/anekit/anekit/models"
	"github.com/anekit/anekit/models/decoder"
	"github.com/anekit/anekit/unimem/safetensors"
)

// completions registers what the shell completes: engines, filters, faults, checks, files, and functions and tensors of
// the program on the line.
func completions(root *cobra.Command) {
	const none = cobra.ShellCompDirectiveNoFileComp
	fixed := func(all ...string) cobra.CompletionFunc { return cobra.FixedCompletions(all, none) }
	begun := func(all ...string) cobra.CompletionFunc {
		return cobra.FixedCompletions(all, none|cobra.ShellCompDirectiveNoSpace)
	}
	var chips []string // in both spellings
	for _, c := range chip.All() {
		chips = append(chips, c.String(), c.Target())
	}
	tables, programs := extensions("safetensors", "json"), extensions("mil", "mlpackage", "mlmodelc", "mlmodel")
	operands := map[string]cobra.CompletionFunc{
		"run": programs, "fmt": programs, "inspect": programs, "lint": programs, "cost": programs,
		"image":   extensions("png", "jpg", "jpeg", "mil", "mlpackage", "mlmodelc", "mlmodel"),
		"weights": tables, "weights check": tables, "weights repack": tables,
		"probe": fixed(probe.Names()...),
		"man":   cli.CompleteCommand,
	}
	flags := map[string]cobra.CompletionFunc{
		"compare": fixed(cli.Each(numerics.Names()[1:], func(mode string) string {
			return numerics.Reference.String() + "," + mode
		})...),
		"engine":        fixed(engine.Names()...),
		"emulate":       fixed(chips...),
		"numerics":      fixed(numerics.Names()...),
		"filter":        fixed(models.FilterNames()...),
		"inject":        fixed(append(check.Injectable(), check.GPUCopy)...),
		"gpu":           cobra.NoFileCompletions,
		"require-shown": fixed(check.NoCopy),
		"only": func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return check.OnlyChoices(), none
		},
		"fill":         begun("zeros", "ones", "random:"),
		"fill-weights": begun("random:"),
		"dialect":      fixed("old", "new"),
		"chip":         fixed(append(chips, "all")...),
		"engines":      fixed("1", "2"),
		"compiler":     fixed(cli.Names(chip.Compilers())...),
		"os":           fixed("macos12", "macos13", "macos14", "macos15", "macos26", "macos27"),
		"explain":      rules,
		"mil":          programs,
		"guest":        extensions("wasm"),
		"policy":       extensions("json"),
		"trace":        extensions("json"),
		"report":       extensions("html", "json"),
		"messages":     extensions("json"),
		"model":        directories, "model-path": directories, "cache": directories, "dir": directories,
		"plots":    directories,
		"size":     fixed(bench.Sizes()...),
		"subject":  fixed(bench.GrowthSubjects()...),
		"form":     fixed(cli.Names(decoder.Forms())...),
		"models":   fixed(bench.WeightModels()...),
		"load":     fixed(cli.Names(safetensors.Modes())...),
		"function": functions,
		"part":     parts,
		"in":       tensors(inputsOf),
		"out":      tensors(resultsOf),
		"expect":   tensors(resultsOf),
	}
	for _, cmd := range cli.EveryCommand(root) {
		for name, complete := range flags {
			if cmd.Flag(name) != nil {
				// This fails for a flag that several commands share and that has a function already.
				_ = cmd.RegisterFlagCompletionFunc(name, complete)
			}
		}
		if cmd != root { // of which cobra completes the names of the commands
			cmd.ValidArgsFunction = operands[strings.TrimPrefix(cmd.CommandPath(), root.Name()+" ")]
			if cmd.ValidArgsFunction == nil {
				cmd.ValidArgsFunction = cobra.NoFileCompletions
			}
		}
	}
}

// rules completes the rules of lint, which take 2 ms to read.
func rules(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return cli.Each(millint.Rules(), func(r millint.Rule) string { return r.ID }), cobra.ShellCompDirectiveNoFileComp
}

// extensions completes files with one of the extensions.
func extensions(all ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(all, cobra.ShellCompDirectiveFilterFileExt)
}

func directories(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// Limits of the work of a completion, for which the user waits.
const (
	maxRead  = 1 << 20 // bytes of the program
	maxFiles = 500
)

// tensors completes NAME=FILE: before the = names of tensors of the program, after it files with arrays.
func tensors(of func(*mil.Function) []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) (all []string, _ cobra.ShellCompDirective) {
		if name, file, named := strings.Cut(typed, "="); named {
			all = cli.Each(arrays(file), func(path string) string { return name + "=" + path })
		} else if p := program(cmd, args); p != nil {
			function := ""
			if f := cmd.Flag("function"); f != nil {
				function = f.Value.String()
			}
			if f := p.Select(function); f != nil {
				all = cli.Each(of(f), func(tensor string) string { return tensor + "=" })
			}
		}
		return all, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

func inputsOf(f *mil.Function) []string {
	return cli.Each(f.Params, func(v mil.Var) string { return v.Name })
}
func resultsOf(f *mil.Function) []string {
	return cli.Each(f.Results, func(r mil.Ref) string { return r.Name })
}

// arrays lists folders and files with arrays whose paths begin as typed.
func arrays(typed string) (paths []string) {
	dir, _ := filepath.Split(typed)
	entries, _ := os.ReadDir(filepath.Join(dir, "."))
	for _, e := range entries {
		path := dir + e.Name()
		switch ext := strings.ToLower(filepath.Ext(path)); {
		case !strings.HasPrefix(path, typed) || len(paths) == maxFiles:
		case e.IsDir():
			paths = append(paths, path+string(filepath.Separator))
		case slices.Contains([]string{".npy", tensorfile.Npz, ".png", ".jpg", ".jpeg"}, ext):
			paths = append(paths, path)
		}
	}
	return paths
}

// functions completes the functions of the program.
func functions(cmd *cobra.Command, args []string, _ string) (all []string, _ cobra.ShellCompDirective) {
	if p := program(cmd, args); p != nil {
		all = cli.Each(p.Funcs, func(f *mil.Function) string { return f.Name })
	}
	return all, cobra.ShellCompDirectiveNoFileComp
}

// parts completes the parts of a pipeline.
func parts(cmd *cobra.Command, args []string, _ string) (all []string, _ cobra.ShellCompDirective) {
	if m := model(operand(cmd, args)); m != nil {
		all = cli.Each(m.Parts(), func(p *coreml.Model) string { return p.Name })
	}
	return all, cobra.ShellCompDirectiveNoFileComp
}

// model returns the model of Core ML at path; nil if it is none, or too large to be read for a completion.
func model(path string) *coreml.Model {
	switch sniff.Path(path).Kind {
	case sniff.Package:
		if spec := filepath.Join(path, "Data", "com.apple.CoreML", "model.mlmodel"); !small(spec) {
			return nil
		}
	case sniff.Model:
		if !small(path) {
			return nil
		}
	case sniff.Compiled:
		if !small(filepath.Join(path, "model.mil")) {
			return nil
		}
	default:
		return nil
	}
	m, err := coreml.Open(path)
	if err != nil {
		return nil
	}
	return m
}

// small reports whether a file may be read for a completion.
func small(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Size() <= maxRead
}

// operand returns the path of the program that the command line names so far: its first operand, or --mil.
func operand(cmd *cobra.Command, args []string) string {
	if len(args) > 0 {
		return args[0]
	}
	if f := cmd.Flag("mil"); f != nil {
		return f.Value.String()
	}
	return ""
}

// program returns the program that the command line names so far, as its first operand or by --mil; nil if there is
// none that can be read.
func program(cmd *cobra.Command, args []string) *mil.Program {
	path := operand(cmd, args)
	if m := model(path); m != nil {
		return m.Tree()
	}
	if !small(path) {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	p, err := mil.ParseTree(path, text)
	if err != nil {
		return nil
	}
	return p
}
