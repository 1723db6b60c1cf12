package cli

type demoCmd struct{}

func (demoCmd) Run(*streams) error { return nil }



type genCmd struct{}

func (genCmd) Run(*streams) error { return nil }

type checkCmd struct{}

func (checkCmd) Run(*streams) error { return nil }
