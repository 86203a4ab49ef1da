package check

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/internal/attributes"
	"github.com/anekit/anekit/internal/engine/standin"
	"github.com/anekit/anekit/internal/plist"
	"github.com/anekit/anekit/models"
)

// replayName is the name of the program of a dump in reports.
const replayName = "replay"

// withReplay adds the model of a dump to the models that check runs, or tells why there is none.
func withReplay(name string, all []models.Model) ([]models.Model, []trial.Check) {
	dump, ok := standin.Replayed()
	if name != engine.StandIn || !ok {
		return all, nil
	}
	m, status, err := replay(dump)
	if err == nil {
		return append(all, m), nil
	}
	c := trial.Skipped(replayName+"/attributes", "%s", cli.OneLine(err.Error()))
	c.Status = status
	return all, []trial.Check{c}
}

// replay returns a model with the tensors of the program in the dump that the stand-in replays. So the engine has to
// place them as the dump describes. If there is no such model, status is that of the check.
func replay(dump *standin.Dump) (m models.Model, status string, err error) {
	file := dump.File
	v, err := plist.ReadFile(file)
	if err != nil {
		return m, trial.Fail, err
	}
	found, ok := attributes.Search(v)
	if !ok {
		return m, trial.Skip, fmt.Errorf("%s has no compiled program; %s", file, inForce(dump))
	}
	p, err := attributes.Read(found)
	switch {
	case errors.Is(err, attributes.ErrImage):
		return m, trial.Skip, err
	case err != nil:
		return m, trial.Fail, err
	case len(p.Procedures) > 1:
		return m, trial.Skip, fmt.Errorf("%s has a program of %d procedures; check runs only a program of one", file,
			len(p.Procedures))
	case len(p.Procedures[0].Unplaced) > 0:
		return m, trial.Skip, fmt.Errorf("%s has no layout for %s", file, strings.Join(p.Procedures[0].Unplaced, ", "))
	}
	q := p.Procedures[0]
	m, err = models.Between(replayName, variables(q.Inputs), variables(q.Outputs))
	if err != nil { // the software engine has no program for such tensors
		err = fmt.Errorf("%s: anekit can place the tensors, but has no program for them: %w", file, err)
	}
	return m, trial.Skip, err
}

// inForce says which part of a dump without a program the stand-in replays.
func inForce(d *standin.Dump) string {
	const most = 8 // names on a line
	const all = "the stand-in replays its errors, devices and limits"
	names := d.Ignored
	if len(names) == 0 {
		return all
	}
	if more := len(names) - most; more > 0 {
		names = append(slices.Clone(names[:most]), fmt.Sprintf("%d more", more))
	}
	return all + ", except " + strings.Join(names, ", ")
}

// variables declares the tensors as variables with the axes of the attributes.
func variables(tensors []attributes.Tensor) []mil.Var {
	vars := make([]mil.Var, len(tensors))
	for i, t := range tensors {
		vars[i] = mil.Var{Name: t.Name, Type: mil.TensorOf(t.Layout.DType, t.Layout.Shape...)}
	}
	return vars
}
