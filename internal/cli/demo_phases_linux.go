package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"redoubt/ammo"
)

// phasesWithoutHeads writes the phases once more, without the few HEADs of bodies:
// a proxy that may change what a GET gets does not tell its length, and the check
// wants one.
func (d *demo) phasesWithoutHeads() ([]ammo.Phase, error) {
	phases := ammo.TravelsPhases(d.dir)
	for i := range phases {
		from := phases[i]
		phases[i].Ammo = filepath.Join(d.dir, from.Name+".ammo")
		phases[i].Answers = filepath.Join(d.dir, from.Name+".answ")
		if err := copyWithoutHeads(phases[i], from); err != nil {
			return nil, err
		}
	}
	return phases, nil
}

func copyWithoutHeads(to, from ammo.Phase) (err error) {
	source, err := ammo.OpenPaired(from.Ammo, from.Answers)
	if err != nil {
		return err
	}
	defer source.Close()
	var files [2]*os.File
	for i, name := range []string{to.Ammo, to.Answers} {
		if files[i], err = os.Create(name); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, files[i].Close()) }()
	}
	requests, answers := ammo.NewPhantomWriter(files[0]), ammo.NewAnswersWriter(files[1])
	for {
		record, err := source.Next()
		if err == io.EOF {
			return errors.Join(requests.Flush(), answers.Flush())
		}
		if err != nil {
			return err
		}
		answer := source.Answer()
		if string(answer.Method) == "HEAD" && answer.Status == 200 {
			continue
		}
		if err := errors.Join(requests.Write(string(record.Tag), record.Bytes),
			answers.Write(string(answer.Method), string(answer.Target), answer.Status, answer.Body)); err != nil {
			return err
		}
	}
}
