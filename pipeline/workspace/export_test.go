package workspace

// What the tests of package workspace_test use.

const Temporary = temporary

var Assess = assess
