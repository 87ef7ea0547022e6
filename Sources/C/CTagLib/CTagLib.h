// C++ alone: CTagWriting includes the headers of TagLib.
