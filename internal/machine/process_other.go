//go:build !linux

package machine

import "errors"

func processOf(int) (Process, error) {
	return Process{}, errors.New("only Linux tells what another process uses")
}
