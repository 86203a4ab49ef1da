package generate

import (
	"github.com/spf13/cobra"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
)

// actorOptions are the flags of actor beside those of generate.
type actorOptions struct {
	generateOptions
	guest  string
	memory int  // of the guest, in MiB
	words  bool // --text of thaw
	named  bool // the snapshot names the model, not --model
}

// ActorCommand returns the command actor.
func ActorCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "actor run|freeze|thaw",
		Short: "Run, freeze and thaw a guest that talks with a language model",
		Long: `actor runs a WebAssembly guest that talks with a language model. Between two
tokens the guest's memory and globals, the tokens, the state of the draws, and
the keys and values of the model can be frozen to one file. From it the actor
continues as if it had never stopped: in another process, on another engine of
equal numerics, or on another machine. A kill at any moment leaves the old file
or the new one, whole.

Without --guest the guest is one that answers the prompt, token by token, as
generate does. The documentation of package models/actor says what a guest may
be. What a guest prints goes to standard error, with control characters other
than line feeds and tabs escaped; what it says does so on a terminal.`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cli.Badf("actor needs a command; give run, freeze or thaw")
		},
	}
	cmd.AddCommand(actorRunCommand(a), actorFreezeCommand(a), actorThawCommand(a))
	return cmd
}

func actorRunCommand(a *cli.App) *cobra.Command {
	var o actorOptions
	cmd := &cobra.Command{
		Use:   "run --model FOLDER (--prompt TEXT | --tokens IDS)",
		Short: "Start an actor and print what it says",
		Long: `run starts an actor with a prompt and prints at most --max tokens that it says,
text for --prompt, ids for --tokens, and figures. It writes no file.`,
		Example: `  ane-roundtrip actor run --model m --tokens 1,2,3 --max 10
  ane-roundtrip actor run --model m --prompt Hi --guest my.wasm --json`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.BeginReport(cmd, o.files()...); err != nil {
				return err
			}
			if err := o.prompted(cmd, true); err != nil {
				return err
			}
			return talkTo(a, cmd.Context(), o, actorWork{})
		},
	}
	actorFlags(a, cmd, &o)
	promptFlags(cmd, &o)
	return cmd
}

func actorFreezeCommand(a *cli.App) *cobra.Command {
	var o actorOptions
	cmd := &cobra.Command{
		Use:   "freeze [FILE] --model FOLDER [flags of a prompt]",
		Short: "Have an actor say some tokens and freeze it to a file",
		Long: `freeze starts an actor with a prompt, has it say at most --max tokens, and
freezes it to FILE, also given by --snapshot, which it replaces. Without a
prompt it thaws the actor in that file, continues it and freezes it to the file
again; the default of --model is then the folder that the file names.`,
		Example: `  ane-roundtrip actor freeze --snapshot a --model m --tokens 1,2,3 --max 10
  ane-roundtrip actor freeze --snapshot a --max 10`,
		Args: o.snapshotArg,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.BeginReport(cmd, o.files()...); err != nil {
				return err
			}
			if err := o.prompted(cmd, false); err != nil {
				return err
			}
			begun := cmd.Flags().Changed("prompt") || cmd.Flags().Changed("tokens")
			return talkTo(a, cmd.Context(), o, actorWork{thaw: !begun, freeze: true})
		},
	}
	actorFlags(a, cmd, &o)
	promptFlags(cmd, &o)
	cmd.Flags().StringVar(&o.snapshot, "snapshot", "", "`FILE` of the frozen actor")
	return cmd
}

func actorThawCommand(a *cli.App) *cobra.Command {
	var o actorOptions
	cmd := &cobra.Command{
		Use:   "thaw [FILE] [--model FOLDER]",
		Short: "Thaw an actor and print what it says next",
		Long: `thaw continues the actor in FILE, also given by --snapshot, prints at most --max
further tokens, and leaves FILE unchanged. The guest has to be the frozen one:
thaw refuses another one, or another version, and prints the difference. The
default of --model is the folder that the file names.

With the model, weights and numerics that froze the actor, thaw restores its
keys and values, and the actor says what it would have said. If --model names
another model, one with other weights, or the same one for other numerics, the
guest keeps its memory and the tokens, and the model takes all tokens of the
actor again; a note says so. Without --model thaw refuses that.`,
		Example: `  ane-roundtrip actor thaw --snapshot a --max 20
  ane-roundtrip actor thaw --snapshot a --model other --max 20 --json`,
		Args: o.snapshotArg,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.BeginReport(cmd, o.files()...); err != nil {
				return err
			}
			o.whole = cmd.Flags().Changed("max")
			return talkTo(a, cmd.Context(), o, actorWork{thaw: true})
		},
	}
	actorFlags(a, cmd, &o)
	cmd.Flags().StringVar(&o.snapshot, "snapshot", "", "`FILE` of the frozen actor")
	cmd.Flags().BoolVar(&o.words, "text", false, "print text in place of ids, by the model's tokenizer.json")
	return cmd
}

// files are the files of the flags.
func (o *actorOptions) files() []cli.Input {
	return []cli.Input{{Flag: "--snapshot", Path: o.snapshot}, {Flag: "--guest", Path: o.guest}}
}

// snapshotArg takes the file of a snapshot as an operand.
func (o *actorOptions) snapshotArg(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) > 1:
		return cli.UnknownOperand(cmd, args[1])
	case len(args) == 1 && o.snapshot != "":
		return cli.Badf("both %s and --snapshot %s name the file; leave one of them out", args[0], o.snapshot)
	case len(args) == 1:
		o.snapshot = args[0]
	}
	return nil
}

// actorFlags adds the flags that all commands of actor have.
func actorFlags(a *cli.App, cmd *cobra.Command, o *actorOptions) {
	f := cmd.Flags()
	f.StringVar(&o.model, "model", "", "`FOLDER` of the model")
	f.StringVar(&o.guest, "guest", "", "`FILE` of the guest, a WebAssembly binary (default: one that answers)")
	f.IntVar(&o.memory, "guest-memory", 64, "limit `MIB` of the guest's memory")
	f.IntVar(&o.max, "max", defaultMax, "number `N` of tokens to say at most")
	f.StringVar(&o.form, "form", "",
		"`FORM` of the programs: engine, engine-int8 or compact (default: engine on Apple's engine, else compact)")
	f.IntVar(&o.context, "context", 0, "room for `N` tokens (default: what the run needs)")
	a.JSONFlag(cmd)
	a.ReportFlag(cmd)
	a.EngineFlags(cmd)
	a.ArithmeticFlags(cmd)
}

// promptFlags adds the flags of an actor that begins.
func promptFlags(cmd *cobra.Command, o *actorOptions) {
	f := cmd.Flags()
	f.StringVar(&o.prompt, "prompt", "", "`TEXT` that the guest reads")
	f.StringVar(&o.tokens, "tokens", "", "`IDS` of tokens that the guest reads, separated by commas")
	f.Float64Var(&o.temperature, "temperature", 0, "`T` by which logits are divided; 0 takes the most likely token")
	f.Float64Var(&o.topP, "top-p", 1, "probability `P` of the tokens that are kept for the draw")
	f.Uint64Var(&o.seed, "seed", 0, "seed `S` of the draws")
}

// prompted notes which of the flags of a prompt are given. Without one, those of a new actor are refused.
func (o *actorOptions) prompted(cmd *cobra.Command, need bool) error {
	f := cmd.Flags()
	o.text, o.whole = f.Changed("prompt"), f.Changed("max")
	ids := f.Changed("tokens")
	switch {
	case o.text && ids, need && !o.text && !ids:
		return cli.Badf("actor %s takes one of --prompt and --tokens; give --prompt TEXT or --tokens 1,2,3", cmd.Name())
	case o.text || ids:
		return nil
	}
	for _, name := range []string{"temperature", "top-p", "seed"} {
		if f.Changed(name) {
			return cli.Badf("--%s is for a new actor; give a prompt too, or leave it out: the file has the draws", name)
		}
	}
	return nil
}
