/* Mistake with pointers: `global` stands before the type, as a storage class would */
global int *remote; /* here */
