/* Mistake with pointers: `spread` stands before the star */
int first(int spread *p) /* here */
{
    return *p;
}
