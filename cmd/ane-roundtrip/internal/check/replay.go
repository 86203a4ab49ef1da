package check

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane"
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

// replay returns a model that has the tensors of the program in the dump that the stand-in replays,
// so that the engine has to place them as the dump describes. If there is no such model m is nil and
// check gives the reason; without a dump both are nil.
func replay(name string) (m *models.Model, check *trial.Check) {
	replayed, ok := standin.Replayed()
	if name != engine.StandIn || !ok {
		return nil, nil
	}
	file := replayed.File
	result := func(status, format string, args ...any) (*models.Model, *trial.Check) {
		c := trial.Skipped(replayName+"/attributes", "%s", cli.OneLine(fmt.Sprintf(format, args...)))
		c.Status = status
		return nil, &c
	}
	v, err := plist.ReadFile(file)
	if err != nil {
		return result(trial.Fail, "%v", err)
	}
	found, ok := attributes.Search(v)
	if !ok {
		return result(trial.Skip, "%s has no compiled program; %s", file, inForce(replayed))
	}
	p, err := attributes.Read(found)
	switch {
	case errors.Is(err, attributes.ErrImage):
		return result(trial.Skip, "%v", err)
	case err != nil:
		return result(trial.Fail, "%v", err)
	case len(p.Procedures) > 1:
		return result(trial.Skip, "%s has a program of %d procedures; check runs only a program of one", file,
			len(p.Procedures))
	case len(p.Procedures[0].Unplaced) > 0:
		return result(trial.Skip, "%s has no layout for %s", file,
			strings.Join(p.Procedures[0].Unplaced, ", "))
	}
	q := p.Procedures[0]
	between, err := models.Between(replayName, variables(q.Inputs), variables(q.Outputs))
	if err != nil { // the software engine has no program for such tensors
		return result(trial.Skip, "%s: anekit can place the tensors, but has no program for them: %v",
			file, err)
	}
	return &between, nil
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

// withReplay adds the model of a dump to the models that check runs.
func withReplay(d *ane.Device, all []models.Model) ([]models.Model, []trial.Check) {
	m, check := replay(d.Receipt().Engine)
	if m != nil {
		all = append(all, *m)
	}
	if check != nil {
		return all, []trial.Check{*check}
	}
	return all, nil
}
