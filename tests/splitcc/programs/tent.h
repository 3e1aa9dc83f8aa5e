int tent[2 * PROCS]::;
